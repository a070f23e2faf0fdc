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

/** Sends a session's requests to the machine of one of its clients, and submits the replies to the session. */
export interface HostRequestRunner {
  /** Handles an event of the session, in log order. */
  handleEvent(envelope: Envelope): void;
  /**
   * Sends the open requests to the client. Called when every event up to `seq` was handled, so replies in the log are
   * known.
   */
  start(seq: number): void;
  /** The id of the client's terminal in which a tool call runs or ran. Undefined if there is none. */
  readonly findTerminal: (toolCallId: string) => string | undefined;
  /** Stops all tasks, because the client leaves the session. */
  stopAll(): void;
}

export function createHostRequestRunner(sessionId: string, link: ClientLink): HostRequestRunner {
  const tasks = createHostTasks(sessionId, link);
  const dueRequests = new Map<string, HostRequested>();
  let startedSeq = 0;
  return {
    handleEvent({ seq, event }) {
      if (event.type === "tool.waiting_for_host" && seq > startedSeq)
        tasks.dropAwaited(event.toolCallId);
      if (event.type === "host.replied") {
        dueRequests.delete(event.requestId);
        // The reply is no longer needed: the turn was cancelled, or the request timed out.
        tasks.stop(event.requestId);
      }
      // A client that follows the session again received the requests before `startedSeq` already.
      if (event.type !== "host.requested" || seq <= startedSeq) return;
      if (event.clientId === link.sender.clientId) dueRequests.set(event.requestId, event);
    },
    start(seq) {
      const isFirst = startedSeq === 0;
      startedSeq = Math.max(startedSeq, seq);
      // Fast path: `start` is called after every event.
      if (dueRequests.size === 0) return;
      for (const request of dueRequests.values())
        tasks.start(isFirst ? markAsRepeat(request) : request);
      dueRequests.clear();
    },
    findTerminal: tasks.findTerminal,
    stopAll: tasks.stopAll,
  };
}

/** Marks a request sent earlier to a connection with the same client id. The host may already have started the work. */
function markAsRepeat(request: HostRequested): HostRequested {
  return { ...request, payload: { attempt: 2, ...request.payload } };
}

/** The tasks in progress on the client's machine. */
interface HostTasks extends Pick<HostRequestRunner, "findTerminal"> {
  start(request: HostRequested): void;
  /** Stops the task of a request, if the task is in progress. */
  stop(requestId: string): void;
  /**
   * Forgets the tasks of a tool call that waits for its host. The host may continue the work; after a reconnect or a
   * rename the host receives the request again and reports the result.
   */
  dropAwaited(toolCallId: string): void;
  readonly stopAll: () => void;
}

interface OpenHostTask extends HostTask {
  readonly toolCallId: JsonValue | undefined;
}

function createHostTasks(sessionId: string, link: ClientLink): HostTasks {
  const { sessions, log } = link;
  const terminals = createEditorTerminals(sessionId, link);
  /** By the session's request ids. */
  const open = new Map<string, OpenHostTask>();

  async function submitOutcome(requestId: string, outcome: HostOutcome): Promise<void> {
    open.delete(requestId);
    const command = { type: "submit-host-reply", requestId, ...outcome } as const;
    const reply = await sessions.command(sessionId, command, link.sender);
    if (reply.status === "accepted") return;
    log("a reply of the client's machine was refused", { sessionId, code: reply.failure.code });
  }

  return {
    start({ requestId, kind, payload }) {
      const submit = (outcome: HostOutcome): Promise<void> => submitOutcome(requestId, outcome);
      const refuse = (message: string): void => {
        submit(createFailedOutcome(message)).catch((error: unknown) =>
          log("a request to the client's machine was lost", { sessionId, error: String(error) }),
        );
      };
      const begin =
        kind === "terminal" ? terminals.createTask(payload) : createHostTask(kind, payload);
      if (begin === undefined) return refuse("The client's machine does not support this request");
      const task = begin({
        sessionId,
        link,
        submitOutcome: async (outcome) => (open.has(requestId) ? submit(outcome) : undefined),
      });
      if (task === undefined) return refuse("The client has too many open requests");
      open.set(requestId, { ...task, toolCallId: payload["toolCallId"] });
    },
    stop(requestId) {
      open.get(requestId)?.stop();
      open.delete(requestId);
    },
    dropAwaited(awaitedToolCallId) {
      for (const [requestId, { toolCallId }] of open) {
        if (toolCallId === awaitedToolCallId) open.delete(requestId);
      }
    },
    findTerminal: terminals.findTerminal,
    stopAll() {
      for (const task of open.values()) task.stop();
      open.clear();
    },
  };
}
