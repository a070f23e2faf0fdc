import type { HostRequested } from "../../../domain/events/client-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { JsonValue } from "../../../data/json.ts";
import type { ClientLink } from "../connection/client-link.ts";
import { createEditorTerminals } from "./run-terminal.ts";
import {
  createFailedOutcome,
  createHostTask,
  type HostOutcome,
  type HostTask,
} from "./host-task.ts";

/** What a session asks of the machine of one of its clients, brought to it, and its answers brought back. */
export interface HostRequestRunner {
  /** An event of the session, in its place. */
  handleEvent(envelope: Envelope): void;
  /** Nothing before this place is answered further on: what is still open is put to the client. */
  start(seq: number): void;
  /** The terminal of the client in which a call runs, or ran. */
  readonly findTerminal: (toolCallId: string) => string | undefined;
  /** The client leaves the session: nothing goes on for it. */
  stopAll(): void;
}

interface OpenHostTask extends HostTask {
  readonly toolCallId: JsonValue | undefined;
}

/** It was put to a connection under the same name before this one, and may be what that one's host was at. */
function markAsRepeat(request: HostRequested): HostRequested {
  return { ...request, payload: { attempt: 2, ...request.payload } };
}

export function createHostRequestRunner(sessionId: string, link: ClientLink): HostRequestRunner {
  const { sessions, log } = link;
  const terminals = createEditorTerminals(sessionId, link);
  const dueRequests = new Map<string, HostRequested>();
  /** What is under way, by the session's requests. */
  const open = new Map<string, OpenHostTask>();
  let startedSeq = 0;

  async function submitOutcome(requestId: string, outcome: HostOutcome): Promise<void> {
    open.delete(requestId);
    const command = { type: "submit-host-reply", requestId, ...outcome } as const;
    const reply = await sessions.command(sessionId, command, link.sender);
    if (reply.status === "accepted") return;
    log("an answer of the client's machine was refused", { sessionId, code: reply.failure.code });
  }

  function startTask({ requestId, kind, payload }: HostRequested): void {
    const submit = (outcome: HostOutcome): Promise<void> => submitOutcome(requestId, outcome);
    const refuse = (message: string): void => {
      submit(createFailedOutcome(message)).catch((error: unknown) =>
        log("a request to the client's machine was lost", { sessionId, error: String(error) }),
      );
    };
    const begin =
      kind === "terminal" ? terminals.createTask(payload) : createHostTask(kind, payload);
    if (begin === undefined) return refuse("This client's machine cannot be asked for that");
    const task = begin({
      sessionId,
      link,
      submitOutcome: async (outcome) => (open.has(requestId) ? submit(outcome) : undefined),
    });
    if (task === undefined) return refuse("Too much is asked of this client at once");
    open.set(requestId, { ...task, toolCallId: payload["toolCallId"] });
  }

  /** The client may go on with it: under another name, or by another connection, it is asked again what came of it. */
  function dropAwaited(awaitedToolCallId: string): void {
    for (const [requestId, { toolCallId }] of open) {
      if (toolCallId === awaitedToolCallId) open.delete(requestId);
    }
  }

  return {
    handleEvent({ seq, event }) {
      if (event.type === "tool.waiting_for_host" && seq > startedSeq) dropAwaited(event.toolCallId);
      if (event.type === "host.replied") {
        dueRequests.delete(event.requestId);
        // Nobody waits for it any more: the turn was cancelled, or it took too long.
        open.get(event.requestId)?.stop();
        open.delete(event.requestId);
      }
      // A client that follows a session again has been asked what was there before.
      if (event.type !== "host.requested" || seq <= startedSeq) return;
      if (event.clientId === link.sender.clientId) dueRequests.set(event.requestId, event);
    },
    start(seq) {
      const isFirst = startedSeq === 0;
      startedSeq = Math.max(startedSeq, seq);
      // Asked after every event.
      if (dueRequests.size === 0) return;
      for (const request of dueRequests.values())
        startTask(isFirst ? markAsRepeat(request) : request);
      dueRequests.clear();
    },
    findTerminal: terminals.findTerminal,
    stopAll() {
      for (const task of open.values()) task.stop();
      open.clear();
    },
  };
}
