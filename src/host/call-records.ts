import { jsonText } from "../domain/json.ts";
import { internalError, invalidParams } from "../wire/jsonrpc/rpc-error.ts";
import type { RpcOutcome } from "../wire/jsonrpc/rpc-message.ts";
import { CONNECTION_GONE } from "./open-requests.ts";

/** What was run for whom: a call that is asked for again has the result that it had. */
export interface CallRecords {
  /** `run` never rejects. */
  once(call: RecordedCall, run: (signal: AbortSignal) => Promise<RpcOutcome>): Promise<RpcOutcome>;
}

export interface RecordedCall {
  readonly id: string;
  /** What the call says: the same id with other words is another call. */
  readonly words: string;
  /** It may have been run before: where nothing is known of it, it is not run. */
  readonly isRepeat: boolean;
  /** The answer is no longer wanted, by whoever asked this time. */
  readonly cancelled: AbortSignal;
}

export interface RecordLimits {
  /** How long a finished call is known. */
  readonly keepMs: number;
  /** With so many known, further ones are refused: none that was run is forgotten before its time. */
  readonly calls: number;
  /** Of the words and results of all of them. */
  readonly characters: number;
}

interface Entry {
  readonly words: string | null;
  readonly outcome: Promise<RpcOutcome>;
  readonly stop: (reason: unknown) => void;
  /** By a clock that nobody sets; undefined while it runs. */
  endedAt: number | undefined;
  weight: number;
}

/**
 * Calls leave in the order of their ends. Where results need too much room the oldest are dropped, but not that they were
 * run: within its time no call is run twice.
 */
export function callRecords(limits: RecordLimits, now: () => number): CallRecords {
  const entries = new Map<string, Entry>();
  let weight = 0;

  function forget(id: string, entry: Entry): void {
    weight -= entry.weight;
    entries.delete(id);
  }

  function tidy(): void {
    for (const [id, entry] of entries) {
      if (entry.endedAt === undefined) continue;
      const isOld = now() - entry.endedAt > limits.keepMs;
      if (isOld) forget(id, entry);
      else if (weight > limits.characters && entry.weight > 0) shrink(id, entry);
      else if (weight <= limits.characters) return;
    }
  }

  /** In the same place, so that the order stays that of the ends. */
  function shrink(id: string, entry: Entry): void {
    weight -= entry.weight;
    entries.set(id, { ...entry, words: null, outcome: Promise.resolve(DROPPED), weight: 0 });
  }

  function settle(id: string, entry: Entry, outcome: RpcOutcome): void {
    const more = jsonText(outcome).length;
    entry.weight += more;
    weight += more;
    entry.endedAt = now();
    entries.delete(id);
    entries.set(id, entry);
    tidy();
  }

  function begin(
    { id, words }: RecordedCall,
    run: (signal: AbortSignal) => Promise<RpcOutcome>,
  ): Entry {
    const controller = new AbortController();
    const stop = (reason: unknown): void => controller.abort(reason);
    const outcome = run(controller.signal);
    const entry: Entry = { words, outcome, stop, endedAt: undefined, weight: words.length };
    entries.set(id, entry);
    weight += entry.weight;
    void outcome.then((ended) => settle(id, entry, ended));
    return entry;
  }

  return {
    async once(call, run) {
      tidy();
      const known = entries.get(call.id);
      if (known === undefined && call.isRepeat) return UNKNOWN;
      if (known === undefined && entries.size >= limits.calls) return FULL;
      const { words, outcome, stop } = known ?? begin(call, run);
      if (words !== null && words !== call.words) return OTHER;
      const { cancelled } = call;
      // It goes on when a connection is lost: what it comes to is for whoever asks again.
      const end = (): void => void (cancelled.reason === CONNECTION_GONE || stop(cancelled.reason));
      if (cancelled.aborted) end();
      cancelled.addEventListener("abort", end, { once: true });
      return outcome;
    },
  };
}

const DROPPED: RpcOutcome = {
  ok: false,
  error: internalError("This call was run before; its result is no longer kept"),
};
const FULL: RpcOutcome = {
  ok: false,
  error: internalError("As many calls were run as can be remembered for now; try again later"),
};
const UNKNOWN: RpcOutcome = {
  ok: false,
  error: internalError("This call may have been run before; what came of it is not known here", {
    code: "outcome_unknown",
  }),
};
const OTHER: RpcOutcome = {
  ok: false,
  error: invalidParams("this id was used for another call"),
};
