import type { PromptOptions } from "../../domain/prompt.ts";
import { type ToolsState, isOpen, findRun } from "../tools/tools-state.ts";
import type { Invocation } from "./turn-state.ts";

/** Context for translating an event of an invocation's stream. */
export interface StreamContext {
  readonly invocation: Invocation;
  readonly tools: ToolsState;
  /** Validation error of a tool call's arguments. Undefined if they are valid. */
  readonly problem: string | undefined;
  /** Options of the turn. */
  readonly options: PromptOptions | null;
}

/** Ids derive from the invocation id and the number in the stream, so a replay creates the same ids. */
export function createMessageId({ invocationId }: Invocation, message: number): string {
  return `msg_${invocationId.slice("inv_".length)}_${message}`;
}

export function createToolCallId({ invocationId: callId }: Invocation, block: number): string {
  return `tool_${callId.slice("inv_".length)}_${block}`;
}

/** Returns the session's id of the open tool call with this provider id. */
export function findOpenToolCallId(
  { messages }: Invocation,
  tools: ToolsState,
  providerId: string,
): string | undefined {
  // Called for every tool call, of which a turn can have thousands: no intermediate list is built.
  for (const { blocks } of messages) {
    for (const block of blocks) {
      if (block.type !== "tool-call" || block.toolCall?.id !== providerId) continue;
      const run = findRun(tools, block.toolCallId);
      if (run !== undefined && isOpen(run)) return block.toolCallId;
    }
  }
  return undefined;
}
