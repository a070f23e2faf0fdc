import { toCanonicalJson } from "../../../data/canonical-json.ts";
import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { TurnBlock } from "../../../domain/provider/turn.ts";
import type { ToolResult } from "../../../domain/tools/tool-call.ts";
import {
  MAX_REDACTION_POINTERS,
  type ProjectionCounts,
  type ProjectionReceipt,
  type ProjectionSpec,
} from "../../../domain/transcript/projection.ts";
import { estimateMessagesTokens } from "../../../domain/transcript/estimate-tokens.ts";
import { digestText } from "../../../platform/digest.ts";
import type {
  ConversationBlock,
  ConversationHistory,
  ConversationMessage,
} from "./conversation.ts";
import { findUnreachableOutput } from "./unreachable-output.ts";

/** Replaces secrets in a text. */
export type RedactText = (text: string) => { readonly text: string; readonly count: number };

/** The history of a request without what the agent's projection leaves out. */
export interface ProjectedHistory {
  readonly history: ConversationHistory;
  readonly receipt: Omit<ProjectionReceipt, "prefixHash">;
}

/**
 * Projects the history of a session's requests. A redacted message is the same object in every request, so the encoding
 * of earlier messages stays cached.
 */
export class HistoryProjector {
  readonly #redacted = new WeakMap<ConversationMessage, RedactedMessage>();

  project(
    history: ConversationHistory,
    spec: ProjectionSpec,
    redactText: RedactText | undefined,
  ): ProjectedHistory {
    const { policy = "raw" } = spec;
    const selected = selectBlocks(history.messages, spec);
    const isChanged = selected.messages !== history.messages;
    const redacted = this.#redactAll(selected.messages, redactText);
    const { messages } = redacted;
    const isBlocked = selected.isBlocked || redacted.isBlocked;
    const before = isChanged ? estimateMessagesTokens(history.messages) : 0;
    const after = isChanged ? estimateMessagesTokens(selected.messages) : 0;
    return {
      history: { messages, stableCount: isChanged ? 0 : history.stableCount },
      receipt: {
        policy,
        reason: findReason(selected.droppedCount, redacted.count, isBlocked),
        keptCount: countBlocks(history.messages) - selected.droppedCount,
        droppedCount: selected.droppedCount,
        providerSafetyBlocked: isBlocked,
        redactedCount: redacted.count,
        reclaimedTokens: before - after,
        rootsConsulted: selected.rootsConsulted,
        redactionPointers: redacted.pointers,
      },
    };
  }

  #redactAll(messages: readonly ConversationMessage[], redactText: RedactText | undefined) {
    if (redactText === undefined) return { messages, count: 0, isBlocked: false, pointers: [] };
    const pointers: string[] = [];
    let count = 0;
    let isBlocked = false;
    const safe = messages.map((message, index) => {
      const known = this.#redacted.get(message);
      const redacted = known ?? redactMessage(message, redactText);
      if (known === undefined) this.#redacted.set(message, redacted);
      isBlocked ||= redacted.isBlocked;
      count += redacted.count;
      for (const block of redacted.blocks)
        if (pointers.length < MAX_REDACTION_POINTERS)
          pointers.push(`/messages/${index}/blocks/${block}`);
      return redacted.message;
    });
    return { messages: safe, count, isBlocked, pointers };
  }
}

/** Whether the projection must be logged: its counts differ from those of the last logged one. */
export function isNewProjection(counts: ProjectionCounts, last: ProjectionCounts | null): boolean {
  const { policy, droppedCount, redactedCount, providerSafetyBlocked } = counts;
  if (last === null) return droppedCount > 0 || redactedCount > 0 || providerSafetyBlocked;
  return (
    policy !== last.policy ||
    droppedCount !== last.droppedCount ||
    redactedCount !== last.redactedCount ||
    providerSafetyBlocked !== last.providerSafetyBlocked
  );
}

/** The digest of the sent messages. */
export function hashMessages(messages: readonly ConversationMessage[]): string {
  return digestText(toCanonicalJson(messages));
}

function findReason(
  droppedCount: number,
  redactedCount: number,
  isBlocked: boolean,
): ProjectionReceipt["reason"] {
  if (droppedCount > 0) return redactedCount > 0 ? "policy_and_redaction" : "policy";
  return redactedCount > 0 || !isBlocked ? "redaction" : "signed_reasoning";
}

function countBlocks(messages: readonly ConversationMessage[]): number {
  return messages.reduce((sum, { blocks }) => sum + blocks.length, 0);
}

interface SelectedBlocks {
  readonly messages: readonly ConversationMessage[];
  readonly droppedCount: number;
  readonly isBlocked: boolean;
  readonly rootsConsulted: number | null;
}

function selectBlocks(
  messages: readonly ConversationMessage[],
  spec: ProjectionSpec,
): SelectedBlocks {
  const unchanged = { messages, droppedCount: 0, isBlocked: false, rootsConsulted: null };
  switch (spec.policy ?? "raw") {
    case "raw":
      return unchanged;
    case "clean_tool_repair":
      return { ...unchanged, ...dropRounds(messages, ({ isInvalid }) => isInvalid) };
    case "squash_failed_calls":
      return { ...unchanged, ...dropRounds(messages, ({ isFailed }) => isFailed) };
    case "reachability_gc":
      return { ...unchanged, ...findUnreachableOutput(messages, spec) };
  }
}

interface ToolRound {
  readonly call: ConversationBlock;
  readonly result: ConversationBlock;
  readonly name: string;
  readonly isFailed: boolean;
  readonly isInvalid: boolean;
}

/** Drops answered tool calls with their results, if a later call of the same tool has a result. */
function dropRounds(
  messages: readonly ConversationMessage[],
  isDropped: (round: ToolRound) => boolean,
): Pick<SelectedBlocks, "messages" | "droppedCount" | "isBlocked"> {
  const dropped = new Set<ConversationBlock>();
  const answeredLater = new Set<string>();
  for (const round of listRounds(messages).toReversed()) {
    if (isDropped(round) && answeredLater.has(round.name))
      for (const block of [round.call, round.result]) dropped.add(block);
    answeredLater.add(round.name);
  }
  const isSigned = messages.some(
    ({ blocks }) => blocks.some((block) => dropped.has(block)) && hasSignedReasoning(blocks),
  );
  if (dropped.size === 0 || isSigned) return { messages, droppedCount: 0, isBlocked: isSigned };
  const kept: ConversationMessage[] = [];
  for (const message of messages) {
    const blocks = message.blocks.filter((block) => !dropped.has(block));
    if (blocks.length === 0) continue;
    const last = kept.at(-1);
    // Roles alternate, also after a whole message was dropped.
    if (last?.role === message.role)
      kept.splice(-1, 1, { ...last, blocks: [...last.blocks, ...blocks] });
    else kept.push(blocks.length === message.blocks.length ? message : { ...message, blocks });
  }
  return { messages: kept, droppedCount: dropped.size, isBlocked: false };
}

/** The answered tool calls, in the order of their results. */
function listRounds(messages: readonly ConversationMessage[]): ToolRound[] {
  const open = new Map<string, Extract<ConversationBlock, { type: "tool-call" }>>();
  const rounds: ToolRound[] = [];
  for (const block of messages.flatMap(({ blocks }) => blocks)) {
    if (block.type === "tool-call") open.set(block.toolCall.id, block);
    if (block.type !== "tool-result") continue;
    const call = open.get(block.result.toolCallId);
    if (call === undefined) continue;
    open.delete(block.result.toolCallId);
    const { name, input } = call.toolCall;
    const { isError: isFailed } = block.result;
    rounds.push({ call, result: block, name, isFailed, isInvalid: input === null });
  }
  return rounds;
}

/** A provider refuses a request if a message with a signature has changed. */
function hasSignedReasoning(blocks: readonly ConversationBlock[]): boolean {
  return blocks.some(
    (block) =>
      block.type === "reasoning" && (block.signature !== undefined || block.redacted !== undefined),
  );
}

interface RedactedMessage {
  readonly message: ConversationMessage;
  readonly count: number;
  /** Positions of the blocks with replaced matches. */
  readonly blocks: readonly number[];
  readonly isBlocked: boolean;
}

function redactMessage(message: ConversationMessage, redactText: RedactText): RedactedMessage {
  const redacted = message.blocks.map((block) => redactBlock(block, redactText));
  const count = redacted.reduce((sum, one) => sum + one.count, 0);
  if (count === 0) return { message, count, blocks: [], isBlocked: false };
  // The model wrote this message itself, so the provider already has its content.
  if (hasSignedReasoning(message.blocks)) return { message, count: 0, blocks: [], isBlocked: true };
  const blocks = redacted.map(({ block }) => block);
  const positions = redacted.flatMap((one, index) => (one.count > 0 ? [index] : []));
  return { message: { ...message, blocks }, count, blocks: positions, isBlocked: false };
}

/** Replaces secrets in the blocks of a response, unless they include signed reasoning. */
export function redactBlocks(
  blocks: readonly TurnBlock[],
  redactText: RedactText,
): { readonly blocks: readonly TurnBlock[]; readonly count: number } {
  if (hasSignedReasoning(blocks)) return { blocks, count: 0 };
  const redacted = blocks.map((block) => redactBlock(block, redactText));
  const count = redacted.reduce((sum, one) => sum + one.count, 0);
  return { blocks: count === 0 ? blocks : redacted.map(({ block }) => block), count };
}

function redactBlock<Block extends ConversationBlock>(
  block: Block,
  redactText: RedactText,
): { readonly block: Block; readonly count: number };
function redactBlock(
  block: ConversationBlock,
  redactText: RedactText,
): { readonly block: ConversationBlock; readonly count: number } {
  switch (block.type) {
    case "text":
    case "reasoning": {
      const { text, count } = redactText(block.text);
      return count === 0 ? { block, count } : { block: { ...block, text }, count };
    }
    case "tool-call": {
      const { toolCall } = block;
      const { text: inputText, count: textCount } = redactText(toolCall.inputText);
      if (toolCall.input === null)
        return textCount === 0
          ? { block, count: 0 }
          : { block: { ...block, toolCall: { ...toolCall, inputText } }, count: textCount };
      // A secret may be escaped in the text of the arguments.
      const { value: input, count: inputCount } = redactObject(toolCall.input, redactText, 0);
      if (textCount === 0 && inputCount === 0) return { block, count: 0 };
      const redacted = { ...toolCall, inputText: toJsonText(input), input };
      return { block: { ...block, toolCall: redacted }, count: Math.max(textCount, inputCount) };
    }
    case "tool-result": {
      const { result, count } = redactResult(block.result, redactText);
      return count === 0 ? { block, count } : { block: { type: "tool-result", result }, count };
    }
    case "image":
      return { block, count: 0 };
    default:
      return block satisfies never;
  }
}

/** Replaces secrets in the result of a tool. */
export function redactResult(
  result: ToolResult,
  redactText: RedactText,
): { readonly result: ToolResult; readonly count: number } {
  let count = 0;
  const parts = result.parts.map((part) => {
    if (part.type === "text") {
      const redacted = redactText(part.text);
      count += redacted.count;
      return { ...part, text: redacted.text };
    }
    if (part.type === "unknown") {
      const redacted = redactText(toJsonText(part.raw));
      count += redacted.count;
      return redacted.count === 0 ? part : ({ type: "text", text: redacted.text } as const);
    }
    const redacted = redactValue(part.value, redactText, 0);
    count += redacted.count;
    return { ...part, value: redacted.value };
  });
  return count === 0 ? { result, count } : { result: { ...result, parts }, count };
}

interface RedactedValue<Value> {
  readonly value: Value;
  readonly count: number;
}

function redactObject(
  value: JsonObject,
  redactText: RedactText,
  depth: number,
): RedactedValue<JsonObject> {
  let count = 0;
  const entries = Object.entries(value).map(([name, member]) => {
    const redacted = redactValue(member ?? null, redactText, depth + 1);
    count += redacted.count;
    return [name, redacted.value] as const;
  });
  return { value: Object.fromEntries(entries), count };
}

function redactValue(
  value: JsonValue,
  redactText: RedactText,
  depth: number,
): RedactedValue<JsonValue> {
  // Deeper values are searched as text: the recursion must not exhaust the stack.
  if (typeof value === "string" || (depth >= MAX_DEPTH && typeof value === "object")) {
    const whole = typeof value === "string" ? value : toJsonText(value);
    const { text, count } = redactText(whole);
    return { value: typeof value === "string" || count > 0 ? text : value, count };
  }
  if (isObject(value)) return redactObject(value, redactText, depth);
  if (!Array.isArray(value)) return { value, count: 0 };
  let count = 0;
  const members = value.map((member) => {
    const redacted = redactValue(member, redactText, depth + 1);
    count += redacted.count;
    return redacted.value;
  });
  return { value: members, count };
}

const MAX_DEPTH = 200;
