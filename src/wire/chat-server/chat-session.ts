import { parseCallSession } from "../responses/response-ids.ts";
import type { ChatMessage, SessionReference, ResultMessage } from "./chat-message.ts";
import type { ChatRequest } from "./chat-request.ts";
import { resolveSingleSession, readSessionId } from "./read-session-id.ts";

export interface ChatSession {
  readonly sessionId: string;
  /** What names it, of several the first. */
  readonly param: string;
  /** Only read out of the id of a call, which may be somebody else's. */
  readonly isImplied: boolean;
}

/** The session that a request names, in whichever way; null where nothing names one. Two that differ are refused. */
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
 * A request to an agent that is told the whole conversation every time: what was said names the sessions that it was said
 * in, and means none of them.
 */
export function toStatelessRequest(request: ChatRequest): ChatRequest {
  const sessions = request.sessions.filter(({ param }) => !param.startsWith("messages["));
  return { ...request, sessions };
}

/** The session that such a request names. Only who brings the result of a call means that call's. */
export function resolveStatelessSession(
  request: ChatRequest,
  header?: SessionHeader,
): ChatSession | null {
  const implied = findNewestCallSession(listNewResults(request).slice(-1));
  return resolveNamedSession(toStatelessRequest(request), header, implied);
}

/** Results behind all that the agent said. */
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

/** Clients that carry nothing else carry the ids of calls. Older ones may be of a session that is gone. */
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
