import type { PromptOptions } from "../../domain/prompt.ts";
import { type ToolsState, isOpen, findRun } from "../tools/tools-state.ts";
import type { Invocation } from "./turn-state.ts";

/** What is known when an event of a call's stream comes. */
export interface StreamContext {
  readonly invocation: Invocation;
  readonly tools: ToolsState;
  /** What checking the arguments of a call found. */
  readonly problem: string | undefined;
  /** Of the turn. */
  readonly options: PromptOptions | null;
}

/** Ids of one call differ by their number in the stream, and are the same whenever the log is made again. */
export function createMessageId({ invocationId }: Invocation, message: number): string {
  return `msg_${invocationId.slice("inv_".length)}_${message}`;
}

export function createToolCallId({ invocationId: callId }: Invocation, block: number): string {
  return `tool_${callId.slice("inv_".length)}_${block}`;
}

/** The session's id of the open call that the provider knows by this id. */
export function findOpenToolCallId(
  { messages }: Invocation,
  tools: ToolsState,
  providerId: string,
): string | undefined {
  // Looked for at every call, of which there can be thousands: no list is made of them.
  for (const { blocks } of messages) {
    for (const block of blocks) {
      if (block.type !== "tool-call" || block.toolCall?.id !== providerId) continue;
      const run = findRun(tools, block.toolCallId);
      if (run !== undefined && isOpen(run)) return block.toolCallId;
    }
  }
  return undefined;
}
