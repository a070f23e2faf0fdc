import { sessionOfCall } from "../responses/ids.ts";
import type { NamedSession } from "./chat-message.ts";
import type { ChatRequest } from "./chat-request.ts";
import { oneSession, readSessionId } from "./read-session-id.ts";

export interface ChatSession {
  readonly sessionId: string;
  /** Only read out of the id of a call, which may be somebody else's. */
  readonly isImplied: boolean;
}

/** The session that a request names, in whichever way; null where nothing names one. Two that differ are refused. */
export function chatSession(
  request: ChatRequest,
  header?: { readonly name: string; readonly value: string },
): ChatSession | null {
  const named = [
    ...(header === undefined ? [] : readSessionId(header.value, header.name)),
    ...request.sessions,
  ];
  const sessionId = oneSession([...named, ...ofNewestCall(request)]);
  return sessionId === null ? null : { sessionId, isImplied: named.length === 0 };
}

/** Clients that carry nothing else carry the ids of calls. Older ones may be of a session that is gone. */
function ofNewestCall({ messages }: ChatRequest): NamedSession[] {
  for (const message of messages.toReversed()) {
    const callIds =
      message.type === "result"
        ? [message.callId]
        : message.type === "assistant"
          ? message.calls.map(({ id }) => id)
          : [];
    const id = callIds.map(sessionOfCall).findLast((one) => one !== null);
    if (id !== undefined && id !== null) return [{ id, param: `messages[${message.at}]` }];
  }
  return [];
}
