import type { Draft } from "../../../domain/events/envelope.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { JsonObject } from "../../../data/json.ts";

/** Delivers host replies, which arrive through the log, to the tools waiting for them. */
export interface HostReplies {
  waitForReply(requestId: string): Promise<JsonObject>;
  applyEvents(events: readonly Draft[]): void;
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
    applyEvents(events) {
      for (const { event } of events) {
        if (event.type !== "host.replied") continue;
        const waiter = waiters.get(event.requestId);
        waiters.delete(event.requestId);
        if (event.outcome === "replied") waiter?.resolve(event.payload ?? {});
        else if (event.outcome === "failed") waiter?.reject(createHostError(event.payload));
        else waiter?.reject(new SpanlineError("aborted", REASONS[event.outcome]));
      }
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
  return new SpanlineError(kind, hasMessage ? message : "The client could not do it");
}

const REASONS = {
  deadline: "The client did not answer in time",
  gone: "The client is gone",
} as const;
