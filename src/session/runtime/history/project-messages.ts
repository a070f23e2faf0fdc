import { toCanonicalJson } from "../../../data/canonical-json.ts";
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
import {
  hasSignedReasoning,
  redactMessage,
  type RedactedMessage,
  type RedactText,
} from "./redact-messages.ts";
import { findUnreachableOutput } from "./unreachable-output.ts";

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
