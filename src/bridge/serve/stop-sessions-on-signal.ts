import { sharedAbort } from "../../async/shared-abort.ts";
import { withCleanup } from "../../async/with-cleanup.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import type { Sessions } from "../../session/sessions.ts";

/** Sessions for those who are served until a signal: then what they read ends, and nothing new is begun for them. */
export function stopSessionsOnSignal(sessions: Sessions, end: AbortSignal): Sessions {
  const readers = sharedAbort(end);
  const refuse = (): void => {
    if (end.aborted) throw createShutdownError();
  };
  return {
    ...sessions,
    get agents() {
      return sessions.agents;
    },
    async open(options) {
      refuse();
      return sessions.open(options);
    },
    async openWithPrompt(options, first) {
      refuse();
      return sessions.openWithPrompt(options, first);
    },
    async command(sessionId, command, from) {
      refuse();
      return sessions.command(sessionId, command, from);
    },
    subscribe: (sessionId, cursor, signal) => ({
      [Symbol.asyncIterator]() {
        const reading = readers.join(signal);
        const batches = sessions.subscribe(sessionId, cursor, reading.signal);
        return withCleanup(batches[Symbol.asyncIterator](), reading.leave);
      },
    }),
  };
}

function createShutdownError(): ApiError {
  return new ApiError(503, "service_failed", "The server is about to end", {
    reason: "server_ending",
    hint: "Try again when it is there again; nothing was run",
    headers: { "retry-after": "2", "x-should-retry": "true" },
  });
}
