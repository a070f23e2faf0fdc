import type { Diagnostic } from "../diagnostic.ts";
import type { ProviderEvent, Role, TurnEnd, UnknownEvent } from "./provider-event.ts";
import type { ToolCall, ToolResult } from "../tools/tool-call.ts";
import {
  addToTurn,
  listBlocksInOrder,
  createTurnBuilder,
  type Block,
  type TurnBuilder,
} from "./turn-builder.ts";
import { addUsage, type Usage } from "../usage.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export type TurnBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "reasoning";
      readonly text: string;
      readonly signature?: string;
      readonly redacted?: string;
    }
  | { readonly type: "tool-call"; readonly toolCall: ToolCall }
  | { readonly type: "tool-result"; readonly result: ToolResult };

export interface TurnMessage {
  readonly role: Role;
  /** In order of opening. A repeated tool call id is one call, with the content of its last opening. */
  readonly blocks: readonly TurnBlock[];
  /** The provider's reason string. Null while the message is open, or if the stream has none. */
  readonly reason: string | null;
}

/** A tool call which ran at the provider. */
export interface ServerToolCall {
  readonly toolCall: ToolCall;
  readonly result: ToolResult | null;
}

/** The whole output of one invocation. */
export interface Turn {
  readonly messages: readonly TurnMessage[];
  /** Tool calls waiting for us, in order of first appearance, each id once. */
  readonly toolCalls: readonly ToolCall[];
  readonly serverToolCalls: readonly ServerToolCall[];
  /** All assistant text, concatenated. */
  readonly text: string;
  /** Text of the last assistant message only. */
  readonly finalText: string;
  readonly usage: Usage | null;
  /** Null while the stream is running. */
  readonly end: TurnEnd | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly unknown: readonly UnknownEvent[];
}

/** Builds a turn from a complete list of events. */
export function buildTurn(events: Iterable<ProviderEvent>): Turn {
  const turn = createTurnBuilder();
  for (const event of events) addToTurn(turn, event);
  return snapshotTurn(turn);
}

/** Returns the turn as received so far. */
export function snapshotTurn(turn: TurnBuilder): Turn {
  const blocks = listBlocksInOrder(turn);
  const messages = listMessages(turn, blocks);
  const assistant = messages.filter((message) => message.role === "assistant").map(readText);
  const uses = listToolUses(blocks);
  const open = turn.end === null ? null : new Set(turn.end.openToolCallIds);
  return {
    messages,
    toolCalls: uses.filter((use) => isClientCall(use, open)).map(({ call }) => call),
    serverToolCalls: uses
      .filter(({ call, result }) => call.runBy === "server" || result !== null)
      .map(({ call: toolCall, result }) => ({ toolCall, result })),
    text: assistant.join(""),
    finalText: assistant.at(-1) ?? "",
    usage: sumUsage(turn),
    end: turn.end,
    diagnostics: [...turn.diagnostics],
    unknown: [...turn.unknown],
  };
}

function listMessages(turn: TurnBuilder, blocks: readonly Block[]): TurnMessage[] {
  const byMessage = new Map<number, Block[]>();
  for (const block of blocks) {
    const messageBlocks = byMessage.get(block.message);
    if (messageBlocks === undefined) byMessage.set(block.message, [block]);
    else messageBlocks.push(block);
  }
  return [...turn.messages].map(([number, { role, reason }]) => ({
    role,
    reason,
    blocks: toTurnBlocks(byMessage.get(number) ?? []),
  }));
}

function toTurnBlocks(blocks: readonly Block[]): TurnBlock[] {
  const lastOpening = new Map<string, ToolCall>();
  for (const block of blocks)
    if (block.kind === "tool-call") lastOpening.set(block.toolCall.id, block.toolCall);
  const content: TurnBlock[] = [];
  for (const block of blocks) {
    if (block.kind === "text") {
      if (block.text !== "" || block.ending === "open")
        content.push({ type: "text", text: block.text });
    } else if (block.kind === "reasoning") {
      const { text, signature, redacted } = block;
      content.push({
        type: "reasoning",
        text,
        ...omitUndefined({ signature, redacted }),
      });
    } else if (block.kind === "tool-result") {
      content.push({ type: "tool-result", result: block.result });
    } else {
      const call = lastOpening.get(block.toolCall.id);
      if (call !== undefined) content.push({ type: "tool-call", toolCall: call });
      lastOpening.delete(block.toolCall.id);
    }
  }
  return content;
}

interface ToolUse {
  call: ToolCall;
  /** A result belongs to the last call opened before it: a later opening with the same id is a new call. */
  result: ToolResult | null;
  isFinished: boolean;
}

function listToolUses(blocks: readonly Block[]): ToolUse[] {
  const uses = new Map<string, ToolUse>();
  for (const block of blocks) {
    if (block.kind === "tool-call") {
      const use = { call: block.toolCall, result: null, isFinished: block.ending !== "open" };
      uses.set(block.toolCall.id, use);
    } else if (block.kind === "tool-result") {
      const use = uses.get(block.result.toolCallId);
      if (use !== undefined) use.result = block.result;
    }
  }
  return [...uses.values()];
}

function isClientCall(
  { call, result, isFinished }: ToolUse,
  open: ReadonlySet<string> | null,
): boolean {
  if (open !== null) return open.has(call.id);
  return call.runBy === "client" && result === null && isFinished;
}

function sumUsage({ steps }: TurnBuilder): Usage | null {
  let sum: Usage | null = null;
  for (const { usage } of steps) sum = sum === null ? usage : addUsage(sum, usage);
  return sum;
}

function readText(message: TurnMessage): string {
  return message.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}
