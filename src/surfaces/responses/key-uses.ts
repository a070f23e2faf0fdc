import type { Ask } from "./ask.ts";
import { keyReused } from "./refusals.ts";

/** What each Idempotency-Key stands for. A session's log knows that of its own requests; this is for all sessions together. */
export interface KeyUses {
  /** Throws where the key stands for another request or another session. Gives back how to say that nothing came of it. */
  enter(ask: Pick<Ask, "caller" | "retry" | "session">): () => void;
}

/** A retry comes soon, so the oldest are forgotten first. */
const MOST_REMEMBERED = 10_000;

export function keyUses(): KeyUses {
  const uses = new Map<string, string>();
  return {
    enter({ caller, retry, session }) {
      const { key, fingerprint } = retry;
      if (key === undefined) return () => {};
      const name = JSON.stringify([caller.id, key]);
      const use = JSON.stringify([fingerprint, session?.sessionId ?? null]);
      const known = uses.get(name);
      if (known !== undefined && known !== use) throw keyReused();
      if (known !== undefined) return () => {};
      uses.set(name, use);
      const [oldest] = uses.keys();
      if (uses.size > MOST_REMEMBERED && oldest !== undefined) uses.delete(oldest);
      return () => void uses.delete(name);
    },
  };
}
