import { parseCallSession } from "../responses/response-ids.ts";
import type { ChatMessage, SessionReference, ResultMessage } from "./chat-message.ts";
import type { ChatRequest } from "./chat-request.ts";
import { resolveSingleSession, readSessionId } from "./read-session-id.ts";

export interface ChatSession {
  readonly sessionId: string;
  /** The field with the session id. The first field if several have the id. */
  readonly param: string;
  /** True if the session is only derived from a tool call id, which may belong to another system. */
  readonly isImplied: boolean;
}

/**
 * Resolves the session of a request from all fields with a session id. Null if none is set. Throws
 * `conflicting_session` if two differ.
 */
export function resolveChatSession(
  request: ChatRequest,
  header?: SessionHeader,
): ChatSession | null {
  return resolveNamedSession(request, header, findNewestCallSession(request.messages));
}

interface SessionHeader {
  readonly name: string;
  readonly value: string;
}

/**
 * Removes the session ids inside messages, for an agent which receives the whole conversation with every request: they
 * name the sessions of earlier turns, not the session of this request.
 */
export function toStatelessRequest(request: ChatRequest): ChatRequest {
  const sessions = request.sessions.filter(({ param }) => !param.startsWith("messages["));
  return { ...request, sessions };
}

/** Resolves the session of a stateless request. Only a new tool result implies the session of its tool call. */
export function resolveStatelessSession(
  request: ChatRequest,
  header?: SessionHeader,
): ChatSession | null {
  const implied = findNewestCallSession(listNewResults(request).slice(-1));
  return resolveNamedSession(toStatelessRequest(request), header, implied);
}

/** Returns the results after the last assistant message. */
export function listNewResults({
  messages,
}: Pick<ChatRequest, "messages">): readonly ResultMessage[] {
  const last = messages.findLastIndex(({ type }) => type === "assistant");
  return messages.slice(last + 1).filter((message) => message.type === "result");
}

function resolveNamedSession(
  { sessions }: Pick<ChatRequest, "sessions">,
  header: SessionHeader | undefined,
  impliedSessions: readonly SessionReference[],
): ChatSession | null {
  const inHeader = header === undefined ? [] : readSessionId(header.value, header.name);
  const named = [...inHeader, ...sessions];
  const all = [...named, ...impliedSessions];
  const sessionId = resolveSingleSession(all);
  const param = all[0]?.param ?? "";
  return sessionId === null ? null : { sessionId, param, isImplied: named.length === 0 };
}

/**
 * Some clients preserve only tool call ids. Only the newest counts, because older ids may belong to a deleted session.
 */
function findNewestCallSession(messages: readonly ChatMessage[]): SessionReference[] {
  for (const message of messages.toReversed()) {
    const callIds =
      message.type === "result"
        ? [message.callId]
        : message.type === "assistant"
          ? message.toolCalls.map(({ id }) => id)
          : [];
    const id = callIds.map(parseCallSession).findLast((message) => message !== null);
    if (id !== undefined && id !== null) return [{ id, param: `messages[${message.index}]` }];
  }
  return [];
}
