import type { ImagePart } from "../../../domain/prompt.ts";
import type { Draft } from "../../../domain/events/envelope.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import {
  evolveInvocation,
  listTurnMessages,
  listOpenToolCalls,
} from "../../turn/evolve-invocation.ts";
import type { Invocation } from "../../turn/turn-state.ts";

/** A picture that was shown is named, and its bytes are looked up when they are needed. */
export type ConversationBlock = ModelBlock | ImagePart;

export interface ConversationMessage {
  readonly role: ModelMessage["role"];
  readonly blocks: readonly ConversationBlock[];
}

/** What was said by both sides, as far as it is certain that the agent should know it. */
export interface Conversation {
  readonly messages: readonly ConversationMessage[];
  /** How many of them were there before the agent's last answer. */
  readonly lastResponseStart: number;
  /** On its way, or waiting for its way, to the agent. */
  readonly pending: readonly ConversationBlock[];
  readonly invocation: Invocation | null;
  /** Calls of tools whose results the agent waits for. */
  readonly openToolCallIds: readonly string[];
}

export const initialConversation: Conversation = {
  messages: [],
  lastResponseStart: 0,
  pending: [],
  invocation: null,
  openToolCallIds: [],
};

/** A conversation with one more event of the log: what a new upstream session begins with is a fold as well. */
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
      // What was lost for good still was said.
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
  /** How many of the first messages are those of the conversation, which never change. */
  readonly stableCount: number;
}

/**
 * What the agent has to be told first in a new conversation. The call that opens it brings the text that is pending; one
 * that `answers` also brings the results, together with the calls that they answer.
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
 * What was said to the agent since, for one that knows nothing but what a call brings. Mostly that is what the call is made
 * for; what came before that, and was turned away, was said all the same.
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

/** Messages of one role that meet are one message: roles alternate. */
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
