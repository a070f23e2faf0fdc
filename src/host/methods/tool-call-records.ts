import { toJsonText } from "../../data/json.ts";
import { createInternalError, createInvalidParams } from "../../wire/jsonrpc/rpc-error.ts";
import type { RpcOutcome } from "../../wire/jsonrpc/rpc-message.ts";
import { CONNECTION_GONE } from "../connection/open-requests.ts";

/** Records of tool calls, so a repeated tool call gets the result of its first run. */
export interface ToolCallRecords {
  /** Runs the tool call, or returns the recorded outcome. `run` must not reject. */
  runOnce(
    call: RecordedToolCall,
    run: (signal: AbortSignal) => Promise<RpcOutcome>,
  ): Promise<RpcOutcome>;
}

export interface RecordedToolCall {
  readonly id: string;
  /** Name and arguments. The same id with other content is refused. */
  readonly content: string;
  /** Whether the agent marked the call as a repeat. Without a record, a repeat is not run: its outcome is unknown. */
  readonly isRepeat: boolean;
  /** Aborts when the response to this request is no longer needed. */
  readonly cancelSignal: AbortSignal;
}

export interface RecordLimits {
  /** Milliseconds for which a finished tool call is remembered. */
  readonly keepMs: number;
  /** Maximum number of records. Further calls are refused, so no record is dropped before its time. */
  readonly toolCalls: number;
  /** Maximum characters of all arguments and results together. Beyond this limit the oldest results are dropped. */
  readonly characters: number;
}

interface CallRecord {
  readonly content: string | null;
  readonly outcome: Promise<RpcOutcome>;
  readonly stop: (reason: unknown) => void;
  /** Milliseconds of a monotonic clock. Undefined while the tool call runs. */
  endedAt: number | undefined;
  weight: number;
}

export function createToolCallRecords(limits: RecordLimits, now: () => number): ToolCallRecords {
  const records = createExpiringRecords(limits, now);

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
    records.add(id, entry);
    void outcome.then((finalOutcome) => records.settle(id, entry, finalOutcome));
    return entry;
  }

  return {
    async runOnce(call, run) {
      records.evict();
      const existing = records.get(call.id);
      if (existing === undefined && call.isRepeat) return OUTCOME_UNKNOWN;
      if (existing === undefined && records.isFull()) return RECORDS_FULL;
      const { content, outcome, stop } = existing ?? begin(call, run);
      if (content !== null && content !== call.content) return ID_REUSED;
      const { cancelSignal } = call;
      // A lost connection does not stop the tool call: its result is for the repeated request.
      const cancel = (): void =>
        void (cancelSignal.reason === CONNECTION_GONE || stop(cancelSignal.reason));
      if (cancelSignal.aborted) cancel();
      cancelSignal.addEventListener("abort", cancel, { once: true });
      return outcome;
    },
  };
}

/**
 * Records expire in the order in which the calls ended. If the results need too much space, the oldest results are
 * dropped, but not the fact of the run: within `keepMs` no call runs twice.
 */
function createExpiringRecords(limits: RecordLimits, now: () => number) {
  const entries = new Map<string, CallRecord>();
  let weight = 0;

  function forget(id: string, entry: CallRecord): void {
    weight -= entry.weight;
    entries.delete(id);
  }

  /** Replaced in place, so the order of the map stays the order of the ends. */
  function shrink(id: string, entry: CallRecord): void {
    weight -= entry.weight;
    entries.set(id, {
      ...entry,
      content: null,
      outcome: Promise.resolve(RESULT_EVICTED),
      weight: 0,
    });
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

  return {
    get: (id: string): CallRecord | undefined => entries.get(id),
    isFull: (): boolean => entries.size >= limits.toolCalls,
    add(id: string, entry: CallRecord): void {
      entries.set(id, entry);
      weight += entry.weight;
    },
    /** Records the outcome and moves the record to the end of the order. */
    settle(id: string, entry: CallRecord, outcome: RpcOutcome): void {
      const outcomeSize = toJsonText(outcome).length;
      entry.weight += outcomeSize;
      weight += outcomeSize;
      entry.endedAt = now();
      entries.delete(id);
      entries.set(id, entry);
      evict();
    },
    evict,
  };
}

const RESULT_EVICTED: RpcOutcome = {
  ok: false,
  error: createInternalError("This tool call has already run; its result is no longer stored"),
};
const RECORDS_FULL: RpcOutcome = {
  ok: false,
  error: createInternalError("The maximum number of tool calls is recorded. Fix: retry later"),
};
const OUTCOME_UNKNOWN: RpcOutcome = {
  ok: false,
  error: createInternalError("This tool call may have run before; its outcome is unknown here", {
    code: "outcome_unknown",
  }),
};
const ID_REUSED: RpcOutcome = {
  ok: false,
  error: createInvalidParams("this id was used for another tool call"),
};
