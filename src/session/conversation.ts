import type { ImagePart } from "../domain/agent-event.ts";
import type { Draft } from "../domain/envelope.ts";
import type { ModelBlock, ModelMessage } from "../domain/model-request.ts";
import { evolveCall, messagesOf, openCallsOf } from "./turn/evolve-call.ts";
import type { Call } from "./turn/turn-state.ts";

/** A picture that was shown is named, and its bytes are looked up when they are needed. */
export type SpokenBlock = ModelBlock | ImagePart;

export interface SpokenMessage {
  readonly role: ModelMessage["role"];
  readonly blocks: readonly SpokenBlock[];
}

/** What was said by both sides, as far as it is certain that the agent should know it. */
export interface Conversation {
  readonly messages: readonly SpokenMessage[];
  /** How many of them were there before the agent's last answer. */
  readonly beforeAnswer: number;
  /** On its way, or waiting for its way, to the agent. */
  readonly pending: readonly SpokenBlock[];
  readonly call: Call | null;
  /** Calls of tools whose results the agent waits for. */
  readonly open: readonly string[];
}

export const initialConversation: Conversation = {
  messages: [],
  beforeAnswer: 0,
  pending: [],
  call: null,
  open: [],
};

/** A conversation with one more event of the log: what a new upstream session begins with is a fold as well. */
export function evolveConversation(conversation: Conversation, { event }: Draft): Conversation {
  const { pending, call, open } = conversation;
  switch (event.type) {
    case "history.given":
      return { ...conversation, messages: withHistory(conversation.messages, event.messages) };
    case "message.sent":
      return { ...conversation, pending: [...pending, ...event.content] };
    case "call.started":
      return { ...conversation, call: emptyCall(event.callId) };
    case "call.lost":
      return { ...conversation, call: null };
    case "call.finished": {
      if (call === null || event.outcome === "refused") return { ...conversation, call: null };
      return answered(conversation, call, event.outcome === "action-required");
    }
    case "tool.finished": {
      if (open.includes(event.toolCallId)) {
        const result: SpokenBlock = { type: "result", result: event.result };
        const rest = open.filter((toolCallId) => toolCallId !== event.toolCallId);
        return { ...conversation, pending: [...pending, result], open: rest };
      }
      return call === null ? conversation : { ...conversation, call: evolveCall(call, event) };
    }
    case "turn.finished":
      // What was lost for good still was said.
      return open.length > 0 ? conversation : { ...conversation, ...delivered(conversation) };
    default:
      return call === null ? conversation : { ...conversation, call: evolveCall(call, event) };
  }
}

export interface History {
  readonly messages: readonly SpokenMessage[];
  /** How many of the first messages are those of the conversation, which never change. */
  readonly stableCount: number;
}

/**
 * What the agent has to be told first in a new conversation. The call that opens it brings the text that is pending; one
 * that `answers` also brings the results, together with the calls that they answer.
 */
export function historyOf(
  { messages, beforeAnswer, pending }: Conversation,
  answers: boolean,
): History {
  if (answers) return { messages: messages.slice(0, beforeAnswer), stableCount: beforeAnswer };
  const stableCount = messages.length;
  const results = pending.filter(({ type }) => type === "result");
  if (results.length === 0) return { messages, stableCount };
  return { messages: [...messages, { role: "user", blocks: results }], stableCount };
}

/**
 * What was said to the agent since, for one that knows nothing but what a call brings. Mostly that is what the call is made
 * for; what came before that, and was turned away, was said all the same.
 */
export function saidSince(
  { messages, beforeAnswer, pending }: Conversation,
  answers: boolean,
): { readonly texts: readonly string[]; readonly images: readonly ImagePart[] } {
  const since = answers ? messages.slice(beforeAnswer) : [];
  const blocks = since.flatMap((message) => (message.role === "user" ? message.blocks : []));
  const said = [...blocks, ...pending];
  return {
    texts: said.flatMap((block) => (block.type === "text" ? [block.text] : [])),
    images: said.flatMap((block) => (isKept(block) ? [block] : [])),
  };
}

export function isKept(block: SpokenBlock): block is ImagePart {
  return block.type === "image" && "blobId" in block;
}

/** Messages of one role that meet are one message: roles alternate. */
function withHistory(
  messages: readonly SpokenMessage[],
  [first, ...rest]: readonly ModelMessage[],
): readonly SpokenMessage[] {
  if (first === undefined) return messages;
  const last = messages.at(-1);
  if (last?.role !== first.role) return [...messages, first, ...rest];
  const met = { ...last, blocks: [...last.blocks, ...first.blocks] };
  return [...messages.slice(0, -1), met, ...rest];
}

function answered(conversation: Conversation, call: Call, isWaiting: boolean): Conversation {
  const { messages } = delivered(conversation);
  const said = messagesOf(call).flatMap(({ role, blocks }): SpokenMessage[] =>
    role === "other" || blocks.length === 0 ? [] : [{ role, blocks }],
  );
  return {
    messages: [...messages, ...said],
    beforeAnswer: messages.length,
    pending: [],
    call: null,
    open: isWaiting ? openCallsOf(call).map(({ toolCallId }) => toolCallId) : [],
  };
}

function delivered({
  messages,
  pending,
}: Conversation): Pick<Conversation, "messages" | "pending"> {
  if (pending.length === 0) return { messages, pending };
  return { messages: [...messages, { role: "user", blocks: pending }], pending: [] };
}

function emptyCall(callId: string): Call {
  const outgoing = { texts: [], answers: null };
  return { callId, upstreamId: "", purpose: "prompt", outgoing, messages: [], closed: [] };
}
