import { toJsonText } from "../../data/json.ts";
import { createInternalError, createInvalidParams } from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcOutcome } from "../../wire/jsonrpc/rpc-message.ts";
import { CONNECTION_GONE } from "../connection/open-requests.ts";

/** What was run for whom: a call that is asked for again has the result that it had. */
export interface ToolCallRecords {
  /** `run` never rejects. */
  runOnce(
    call: RecordedToolCall,
    run: (signal: AbortSignal) => Promise<RpcOutcome>,
  ): Promise<RpcOutcome>;
}

export interface RecordedToolCall {
  readonly id: string;
  /** What the call says: the same id with other words is another call. */
  readonly content: string;
  /** It may have been run before: where nothing is known of it, it is not run. */
  readonly isRepeat: boolean;
  /** The answer is no longer wanted, by whoever asked this time. */
  readonly cancelSignal: AbortSignal;
}

export interface RecordLimits {
  /** How long a finished call is known. */
  readonly keepMs: number;
  /** With so many known, further ones are refused: none that was run is forgotten before its time. */
  readonly toolCalls: number;
  /** Of the words and results of all of them. */
  readonly characters: number;
}

interface CallRecord {
  readonly content: string | null;
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
export function createToolCallRecords(limits: RecordLimits, now: () => number): ToolCallRecords {
  const entries = new Map<string, CallRecord>();
  let weight = 0;

  function forget(id: string, entry: CallRecord): void {
    weight -= entry.weight;
    entries.delete(id);
  }

  function evict(): void {
    for (const [id, entry] of entries) {
      if (entry.endedAt === undefined) continue;
      const isOld = now() - entry.endedAt > limits.keepMs;
      if (isOld) forget(id, entry);
      else if (weight > limits.characters && entry.weight > 0) shrink(id, entry);
      else if (weight <= limits.characters) return;
    }
  }

  /** In the same place, so that the order stays that of the ends. */
  function shrink(id: string, entry: CallRecord): void {
    weight -= entry.weight;
    entries.set(id, {
      ...entry,
      content: null,
      outcome: Promise.resolve(RESULT_EVICTED),
      weight: 0,
    });
  }

  function settle(id: string, entry: CallRecord, outcome: RpcOutcome): void {
    const outcomeSize = toJsonText(outcome).length;
    entry.weight += outcomeSize;
    weight += outcomeSize;
    entry.endedAt = now();
    entries.delete(id);
    entries.set(id, entry);
    evict();
  }

  function begin(
    { id, content }: RecordedToolCall,
    run: (signal: AbortSignal) => Promise<RpcOutcome>,
  ): CallRecord {
    const controller = new AbortController();
    const stop = (reason: unknown): void => controller.abort(reason);
    const outcome = run(controller.signal);
    const entry: CallRecord = {
      content,
      outcome,
      stop,
      endedAt: undefined,
      weight: content.length,
    };
    entries.set(id, entry);
    weight += entry.weight;
    void outcome.then((finalOutcome) => settle(id, entry, finalOutcome));
    return entry;
  }

  return {
    async runOnce(call, run) {
      evict();
      const existing = entries.get(call.id);
      if (existing === undefined && call.isRepeat) return OUTCOME_UNKNOWN;
      if (existing === undefined && entries.size >= limits.toolCalls) return RECORDS_FULL;
      const { content, outcome, stop } = existing ?? begin(call, run);
      if (content !== null && content !== call.content) return ID_REUSED;
      const { cancelSignal } = call;
      // It goes on when a connection is lost: what it comes to is for whoever asks again.
      const cancel = (): void =>
        void (cancelSignal.reason === CONNECTION_GONE || stop(cancelSignal.reason));
      if (cancelSignal.aborted) cancel();
      cancelSignal.addEventListener("abort", cancel, { once: true });
      return outcome;
    },
  };
}

const RESULT_EVICTED: RpcOutcome = {
  ok: false,
  error: createInternalError("This call was run before; its result is no longer kept"),
};
const RECORDS_FULL: RpcOutcome = {
  ok: false,
  error: createInternalError(
    "As many calls were run as can be remembered for now; try again later",
  ),
};
const OUTCOME_UNKNOWN: RpcOutcome = {
  ok: false,
  error: createInternalError(
    "This call may have been run before; what came of it is not known here",
    {
      code: "outcome_unknown",
    },
  ),
};
const ID_REUSED: RpcOutcome = {
  ok: false,
  error: createInvalidParams("this id was used for another call"),
};
