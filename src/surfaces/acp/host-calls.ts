import type { HostRequested } from "../../domain/agent-event.ts";
import type { Envelope } from "../../domain/envelope.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { ClientLink } from "./client-link.ts";
import { editorTerminals } from "./editor-terminals.ts";
import { failed, hostWork, type HostAnswered, type HostWork } from "./host-work.ts";

/** What a session asks of the machine of one of its clients, brought to it, and its answers brought back. */
export interface HostCalls {
  /** An event of the session, in its place. */
  take(envelope: Envelope): void;
  /** Nothing before this place is answered further on: what is still open is put to the client. */
  caughtUp(seq: number): void;
  /** The terminal of the client in which a call runs, or ran. */
  readonly terminalOf: (toolCallId: string) => string | undefined;
  /** The client leaves the session: nothing goes on for it. */
  end(): void;
}

interface OpenWork extends HostWork {
  readonly toolCallId: JsonValue | undefined;
}

/** It was put to a connection under the same name before this one, and may be what that one's host was at. */
function repeated(request: HostRequested): HostRequested {
  return { ...request, payload: { attempt: 2, ...request.payload } };
}

export function hostCalls(sessionId: string, link: ClientLink): HostCalls {
  const { sessions, log } = link;
  const terminals = editorTerminals(sessionId, link);
  const wanted = new Map<string, HostRequested>();
  /** What is under way, by the session's requests. */
  const open = new Map<string, OpenWork>();
  let done = 0;

  async function answer(requestId: string, given: HostAnswered): Promise<void> {
    open.delete(requestId);
    const command = { type: "answer-host", requestId, ...given } as const;
    const reply = await sessions.command(sessionId, command, link.sender);
    if (reply.status === "accepted") return;
    log("an answer of the client's machine was refused", { sessionId, code: reply.failure.code });
  }

  function put({ requestId, kind, payload }: HostRequested): void {
    const answered = (given: HostAnswered): Promise<void> => answer(requestId, given);
    const refuse = (message: string): void => {
      answered(failed(message)).catch((error: unknown) =>
        log("a request to the client's machine was lost", { sessionId, error: String(error) }),
      );
    };
    const begin = kind === "terminal" ? terminals.begin(payload) : hostWork(kind, payload);
    if (begin === undefined) return refuse("This client's machine cannot be asked for that");
    const work = begin({
      sessionId,
      link,
      answered: async (given) => (open.has(requestId) ? answered(given) : undefined),
    });
    if (work === undefined) return refuse("Too much is asked of this client at once");
    open.set(requestId, { ...work, toolCallId: payload["toolCallId"] });
  }

  /** The client may go on with it: under another name, or by another connection, it is asked again what came of it. */
  function leave(awaited: string): void {
    for (const [requestId, { toolCallId }] of open) {
      if (toolCallId === awaited) open.delete(requestId);
    }
  }

  return {
    take({ seq, event }) {
      if (event.type === "tool.awaited" && seq > done) leave(event.toolCallId);
      if (event.type === "host.answered") {
        wanted.delete(event.requestId);
        // Nobody waits for it any more: the turn was cancelled, or it took too long.
        open.get(event.requestId)?.stop();
        open.delete(event.requestId);
      }
      // A client that follows a session again has been asked what was there before.
      if (event.type !== "host.requested" || seq <= done) return;
      if (event.clientId === link.sender.clientId) wanted.set(event.requestId, event);
    },
    caughtUp(seq) {
      const isFirst = done === 0;
      done = Math.max(done, seq);
      // Asked after every event.
      if (wanted.size === 0) return;
      for (const request of wanted.values()) put(isFirst ? repeated(request) : request);
      wanted.clear();
    },
    terminalOf: terminals.of,
    end() {
      for (const work of open.values()) work.stop();
      open.clear();
    },
  };
}
