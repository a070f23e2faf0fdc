import type { PromptRequest } from "./prompt-request.ts";
import { createKeyReusedError } from "../request-errors.ts";

/** What each Idempotency-Key stands for. A session's log knows that of its own requests; this is for all sessions together. */
export interface IdempotencyKeys {
  /** Throws where the key stands for another request or another session. Gives back how to say that nothing came of it. */
  reserve(ask: Pick<PromptRequest, "caller" | "retry" | "session">): () => void;
}

/** A retry comes soon, so the oldest are forgotten first. */
const MAX_KEYS = 10_000;

export function createIdempotencyKeys(): IdempotencyKeys {
  const uses = new Map<string, string>();
  return {
    reserve({ caller, retry, session }) {
      const { key, fingerprint } = retry;
      if (key === undefined) return () => {};
      const name = JSON.stringify([caller.id, key]);
      const use = JSON.stringify([fingerprint, session?.sessionId ?? null]);
      const existingUse = uses.get(name);
      if (existingUse !== undefined && existingUse !== use) throw createKeyReusedError();
      if (existingUse !== undefined) return () => {};
      uses.set(name, use);
      const [oldest] = uses.keys();
      if (uses.size > MAX_KEYS && oldest !== undefined) uses.delete(oldest);
      return () => void uses.delete(name);
    },
  };
}
