import type { ImagePart } from "../../../domain/prompt.ts";
import type { Draft } from "../../../domain/events/envelope.ts";
import type { EventOf } from "../../../domain/events/session-event.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import {
  evolveInvocation,
  listTurnMessages,
  listOpenToolCalls,
} from "../../turn/evolve-invocation.ts";
import type { Invocation } from "../../turn/turn-state.ts";
import type { CompactionReceipt } from "../../../domain/transcript/compaction.ts";
import { replaceArchived } from "./plan-compaction.ts";

/** A block of a conversation. Images are references to blobs; their bytes are loaded when needed. */
export type ConversationBlock = ModelBlock | ImagePart;

export interface ConversationMessage {
  readonly role: ModelMessage["role"];
  readonly blocks: readonly ConversationBlock[];
}

/** The messages of both sides, excluding content the agent may not have received or completed. */
export interface Conversation {
  readonly messages: readonly ConversationMessage[];
  /** Number of messages before the agent's last response. */
  readonly lastResponseStart: number;
  /** Content being sent to the agent, or waiting to be sent. */
  readonly pending: readonly ConversationBlock[];
  readonly invocation: Invocation | null;
  /** Tool calls for whose results the agent waits. */
  readonly openToolCallIds: readonly string[];
  /** Blocks of reminders which are dropped from the messages after some turns. */
  readonly expiring: readonly ExpiringBlock[];
  /** Lifetime of the reminders whose message follows in the log. Null: a reminder without an end. */
  readonly nextLifetime: number | null | undefined;
}

interface ExpiringBlock {
  readonly block: ConversationBlock;
  readonly turnsLeft: number;
}

export const initialConversation: Conversation = {
  messages: [],
  lastResponseStart: 0,
  pending: [],
  invocation: null,
  openToolCallIds: [],
  expiring: [],
  nextLifetime: undefined,
};

/** Applies an event of the log. The history for a new upstream session is built by this fold. */
export function evolveConversation(conversation: Conversation, { event }: Draft): Conversation {
  const { pending, invocation, openToolCallIds } = conversation;
  switch (event.type) {
    case "history.imported":
      return { ...conversation, messages: appendHistory(conversation.messages, event.messages) };
    case "reminder.emitted":
      return { ...conversation, nextLifetime: extendLifetime(conversation, event) };
    case "message.sent": {
      const sent = { ...conversation, pending: [...pending, ...event.content] };
      return event.origin === "reminder" ? trackReminder(sent, event.content) : sent;
    }
    case "invocation.started":
      return { ...conversation, invocation: createEmptyInvocation(event.invocationId) };
    case "invocation.lost":
      return { ...conversation, invocation: null };
    case "invocation.finished": {
      if (invocation === null || event.outcome === "refused")
        return { ...conversation, invocation: null };
      return applyResponse(conversation, invocation, event.outcome === "action-required");
    }
    case "tool.finished": {
      if (openToolCallIds.includes(event.toolCallId)) {
        const result: ConversationBlock = { type: "tool-result", result: event.result };
        const rest = openToolCallIds.filter((toolCallId) => toolCallId !== event.toolCallId);
        return { ...conversation, pending: [...pending, result], openToolCallIds: rest };
      }
      return invocation === null
        ? conversation
        : { ...conversation, invocation: evolveInvocation(invocation, event) };
    }
    case "transcript.compacted":
      return applyCompaction(conversation, event.receipt);
    case "turn.finished":
      return dropExpired(
        // Undelivered content of a finished turn still belongs to the conversation.
        openToolCallIds.length > 0
          ? conversation
          : { ...conversation, ...deliverPending(conversation) },
      );
    default:
      return invocation === null
        ? conversation
        : { ...conversation, invocation: evolveInvocation(invocation, event) };
  }
}

/** Replaces the archived messages. The log keeps them, so a copy of the session before this event is whole. */
function applyCompaction(
  conversation: Conversation,
  { keptHead, archivedMessages, replacement }: CompactionReceipt,
): Conversation {
  const end = keptHead + archivedMessages;
  const { messages, shift } = replaceArchived(
    conversation.messages,
    { keptHead, end },
    replacement,
  );
  const { lastResponseStart: start } = conversation;
  const lastResponseStart = start < end ? Math.min(start, messages.length) : start + shift;
  return { ...conversation, messages, lastResponseStart };
}

/** The block lives as long as the longest reminder in it. */
function extendLifetime(
  { nextLifetime = 0 }: Conversation,
  { turnsLeft }: EventOf<"reminder.emitted">,
): number | null {
  return nextLifetime === null || turnsLeft === undefined
    ? null
    : Math.max(nextLifetime, turnsLeft);
}

function trackReminder(
  conversation: Conversation,
  content: readonly ConversationBlock[],
): Conversation {
  const { nextLifetime: turnsLeft, expiring } = conversation;
  if (typeof turnsLeft !== "number" || turnsLeft > MAX_TRACKED_TURNS)
    return { ...conversation, nextLifetime: undefined };
  const added = content.map((block) => ({ block, turnsLeft }));
  return { ...conversation, expiring: [...expiring, ...added], nextLifetime: undefined };
}

/** The messages since the oldest expiring block are encoded again for every request. */
const MAX_TRACKED_TURNS = 16;

/** Drops the reminders whose last turn has ended. A message without other content stays, because roles alternate. */
function dropExpired(conversation: Conversation): Conversation {
  const { expiring, messages, pending } = conversation;
  if (expiring.length === 0) return conversation;
  const expired = new Set(expiring.flatMap((one) => (one.turnsLeft <= 1 ? [one.block] : [])));
  const isLive = (block: ConversationBlock): boolean => !expired.has(block);
  const drop = (message: ConversationMessage): ConversationMessage => {
    const blocks = message.blocks.filter(isLive);
    return blocks.length === message.blocks.length || blocks.length === 0
      ? message
      : { ...message, blocks };
  };
  return {
    ...conversation,
    messages: expired.size === 0 ? messages : messages.map(drop),
    pending: pending.filter(isLive),
    expiring: expiring.flatMap(({ block, turnsLeft }) =>
      turnsLeft <= 1 ? [] : [{ block, turnsLeft: turnsLeft - 1 }],
    ),
  };
}

/** Number of leading messages without expiring blocks. */
export function countLastingMessages({
  messages,
  expiring,
}: Pick<Conversation, "messages" | "expiring">): number {
  if (expiring.length === 0) return messages.length;
  const blocks = new Set(expiring.map(({ block }) => block));
  const first = messages.findIndex((message) => message.blocks.some((block) => blocks.has(block)));
  return first === -1 ? messages.length : first;
}

export interface ConversationHistory {
  readonly messages: readonly ConversationMessage[];
  /** Number of leading messages which never change. */
  readonly stableCount: number;
}

/**
 * Returns the history for a new upstream session. The invocation itself carries the pending text; with
 * `carriesResults`, also the results and the tool calls they answer.
 */
export function selectHistory(
  conversation: Conversation,
  carriesResults: boolean,
): ConversationHistory {
  const { messages, lastResponseStart, pending } = conversation;
  const stableCount = countLastingMessages(conversation);
  if (carriesResults)
    return {
      messages: messages.slice(0, lastResponseStart),
      stableCount: Math.min(lastResponseStart, stableCount),
    };
  const results = pending.filter(({ type }) => type === "tool-result");
  if (results.length === 0) return { messages, stableCount };
  return { messages: [...messages, { role: "user", blocks: results }], stableCount };
}

/**
 * Returns the input since the last response, for a stateless provider: the content of this invocation, and any content
 * of rejected ones before it.
 */
export function collectUnsentInput(
  { messages, lastResponseStart: beforeAnswer, pending }: Conversation,
  carriesResults: boolean,
): { readonly texts: readonly string[]; readonly images: readonly ImagePart[] } {
  const since = carriesResults ? messages.slice(beforeAnswer) : [];
  const blocks = since.flatMap((message) => (message.role === "user" ? message.blocks : []));
  const unsentBlocks = [...blocks, ...pending];
  return {
    texts: unsentBlocks.flatMap((block) => (block.type === "text" ? [block.text] : [])),
    images: unsentBlocks.flatMap((block) => (isStoredImage(block) ? [block] : [])),
  };
}

export function isStoredImage(block: ConversationBlock): block is ImagePart {
  return block.type === "image" && "blobId" in block;
}

/** Appends messages, joining the first to the last message if they have the same role: roles alternate. */
function appendHistory(
  messages: readonly ConversationMessage[],
  [first, ...rest]: readonly ModelMessage[],
): readonly ConversationMessage[] {
  if (first === undefined) return messages;
  const last = messages.at(-1);
  if (last?.role !== first.role) return [...messages, first, ...rest];
  const joinedMessage = { ...last, blocks: [...last.blocks, ...first.blocks] };
  return [...messages.slice(0, -1), joinedMessage, ...rest];
}

function applyResponse(
  conversation: Conversation,
  call: Invocation,
  isWaiting: boolean,
): Conversation {
  const { messages } = deliverPending(conversation);
  const responseMessages = listTurnMessages(call).flatMap(
    ({ role, blocks }): ConversationMessage[] =>
      role === "other" || blocks.length === 0 ? [] : [{ role, blocks }],
  );
  return {
    ...conversation,
    messages: [...messages, ...responseMessages],
    lastResponseStart: messages.length,
    pending: [],
    invocation: null,
    openToolCallIds: isWaiting ? listOpenToolCalls(call).map(({ toolCallId }) => toolCallId) : [],
  };
}

function deliverPending({
  messages,
  pending,
}: Conversation): Pick<Conversation, "messages" | "pending"> {
  if (pending.length === 0) return { messages, pending };
  return { messages: [...messages, { role: "user", blocks: pending }], pending: [] };
}

function createEmptyInvocation(invocationId: string): Invocation {
  const outgoing = { texts: [], toolResults: null };
  return {
    invocationId,
    upstreamId: "",
    purpose: "prompt",
    outgoing,
    messages: [],
    closedToolCallIds: [],
  };
}
