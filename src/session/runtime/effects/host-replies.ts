import type { HostReplied } from "../../../domain/events/client-events.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../data/json.ts";

/** Delivers host replies, which arrive through the log, to the tools waiting for them. */
export interface HostReplies {
  waitForReply(requestId: string): Promise<JsonObject>;
  applyReply(reply: HostReplied): void;
  close(): void;
}

interface Waiter {
  readonly resolve: (payload: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

export function createHostReplies(): HostReplies {
  const waiters = new Map<string, Waiter>();
  return {
    waitForReply: (requestId) =>
      new Promise((resolve, reject) => {
        waiters.set(requestId, { resolve, reject });
      }),
    applyReply({ requestId, outcome, payload }) {
      const waiter = waiters.get(requestId);
      waiters.delete(requestId);
      if (outcome === "replied") waiter?.resolve(payload ?? {});
      else if (outcome === "failed") waiter?.reject(createHostError(payload));
      else waiter?.reject(new SpanlineError("aborted", REASONS[outcome]));
    },
    close() {
      for (const { reject } of waiters.values()) {
        reject(new SpanlineError("aborted", "The session was closed here"));
      }
      waiters.clear();
    },
  };
}

/** Uses the client's message, if it sent one. */
function createHostError(payload: JsonObject = {}): SpanlineError {
  const { message, code } = payload;
  const hasMessage = typeof message === "string" && message !== "";
  const kind = code === "outcome_unknown" ? code : "host_failed";
  return new SpanlineError(kind, hasMessage ? message : "The client failed to handle the request");
}

const REASONS = {
  deadline: "The client did not answer in time",
  gone: "The client is gone",
} as const;
