import type { PromptRequest } from "./prompt-request.ts";
import { createKeyReusedError } from "../request-errors.ts";

/** Reserves Idempotency-Keys across all sessions. The log of each session also records the keys of its requests. */
export interface IdempotencyKeys {
  /**
   * Throws 409 if the key belongs to another request or another session. Returns a function to release the key if the
   * request has no effect.
   */
  reserve(ask: Pick<PromptRequest, "caller" | "retry" | "session">): () => void;
}

/** Retries arrive soon after the first request, so the oldest keys are dropped first. */
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
