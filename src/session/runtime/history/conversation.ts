import type { ImagePart } from "../../../domain/prompt.ts";
import type { Draft } from "../../../domain/events/envelope.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import {
  evolveInvocation,
  listTurnMessages,
  listOpenToolCalls,
} from "../../turn/evolve-invocation.ts";
import type { Invocation } from "../../turn/turn-state.ts";

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
}

export const initialConversation: Conversation = {
  messages: [],
  lastResponseStart: 0,
  pending: [],
  invocation: null,
  openToolCallIds: [],
};

/** Applies an event of the log. The history for a new upstream session is built by this fold. */
export function evolveConversation(conversation: Conversation, { event }: Draft): Conversation {
  const { pending, invocation, openToolCallIds } = conversation;
  switch (event.type) {
    case "history.imported":
      return { ...conversation, messages: appendHistory(conversation.messages, event.messages) };
    case "message.sent":
      return { ...conversation, pending: [...pending, ...event.content] };
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
    case "turn.finished":
      // Undelivered content of a finished turn still belongs to the conversation.
      return openToolCallIds.length > 0
        ? conversation
        : { ...conversation, ...deliverPending(conversation) };
    default:
      return invocation === null
        ? conversation
        : { ...conversation, invocation: evolveInvocation(invocation, event) };
  }
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
  { messages, lastResponseStart, pending }: Conversation,
  carriesResults: boolean,
): ConversationHistory {
  if (carriesResults)
    return { messages: messages.slice(0, lastResponseStart), stableCount: lastResponseStart };
  const stableCount = messages.length;
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
