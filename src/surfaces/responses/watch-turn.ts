import type { AgentEvent } from "../../domain/agent-event.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import { ApiError, statusFor } from "../../http/api-error.ts";
import type { Caller } from "../../http/caller.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";
import { answerSpan } from "./answer-span.ts";
import type { Asked } from "./ask.ts";
import { giveUp } from "./give-up.ts";
import { batchesFrom } from "./read-log.ts";
import { placeHeaders } from "./request-headers.ts";
import type { WaitingCallers } from "./waiting-callers.ts";
import { BUSY_SECONDS, busy } from "./refusals.ts";
import type { ResponsesSettings, TurnEnded } from "./responses-options.ts";

export interface WatchOptions {
  readonly sessions: Sessions;
  readonly clock: SteadyClock;
  readonly settings: ResponsesSettings;
  readonly caller: Caller;
  /** Aborted when nobody reads any more. */
  readonly gone: AbortSignal;
  /** Nobody has to stay for it: it goes on when its reader leaves, and waits as long as it has to. */
  readonly isDetached: boolean;
  /** Nothing is sent before the end, so that the status can say how it ended, however late. */
  readonly isWhole?: boolean;
  readonly waiting: WaitingCallers;
  readonly observe?: (end: TurnEnded) => void;
  readonly report: (error: unknown) => void;
}

export interface Watched {
  /** What happened next, or that nothing did for as long as an answer is held back. */
  next(): Promise<readonly Envelope[] | "quiet">;
  /** Hands on what happens next, or that nothing can. */
  more<Result>(
    use: (envelopes: readonly Envelope[]) => Result | Promise<Result>,
    failed: (error: unknown) => Promise<never>,
  ): Promise<Result>;
  isSpeaking(): boolean;
  /** Nothing more can come. */
  isEnded(): boolean;
  leave(): Promise<void>;
}

/** Reads a session's log from where an answer begins, until it ends or its reader leaves. */
export function watchTurn(asked: Asked, options: WatchOptions): Watched {
  const { sessions, clock, settings, gone, isDetached, isWhole = false } = options;
  const { sessionId, seq, promptId } = asked;
  const left = new AbortController();
  const signal = AbortSignal.any([gone, left.signal]);
  const batches = batchesFrom(asked, seq, sessions, signal);
  const span = answerSpan(promptId);
  let pending: Promise<IteratorResult<readonly Envelope[]>> | undefined;
  const latest = clock.monotonic() + settings.queueMs;
  // Who looks for something that failed has found it.
  let canSayStatus = !isDetached;
  let hasResults = false;
  let isSpeaking = false;
  let isEnded = false;
  let stopWaiting = (): void => {};
  const wait = (): void => {
    stopWaiting();
    stopWaiting = options.waiting.enter(sessionId);
  };
  // What was asked before may have begun meanwhile: the log says.
  if (asked.isWaiting === true && !asked.isRepeated) wait();

  const note = (envelope: Envelope): void => {
    const { event, turnId } = envelope;
    span.take(envelope);
    hasResults ||= event.type === "results.given" && event.promptId === promptId;
    if (span.turnId === undefined || turnId !== span.turnId) return;
    const isDead = event.type === "turn.finished" && !isSpeaking && event.outcome === "failed";
    if (isDead && canSayStatus) throw deadBefore(event.failure, asked, hasResults);
    isSpeaking ||= SPOKEN.has(event.type);
    if (event.type === "turn.finished" && !asked.isRepeated) options.observe?.(endOf(event));
  };
  const take = ({ done, value }: IteratorResult<readonly Envelope[]>): readonly Envelope[] => {
    pending = undefined;
    if (done === true) {
      isEnded = true;
      if (gone.aborted) throw new SpanlineError("aborted", "The caller is gone");
      return [];
    }
    for (const envelope of value) note(envelope);
    if (span.turnId === undefined && span.end === undefined) wait();
    else stopWaiting();
    return value;
  };

  return {
    async next() {
      const isWaiting = span.turnId === undefined && !isDetached;
      pending ??= batches.next();
      // What the turn before says meanwhile makes the wait for its end no shorter.
      const patience = isWaiting ? Math.max(0, latest - clock.monotonic()) : settings.holdMs;
      const reading = isDetached ? pending.catch(endOfDeleted) : pending;
      const first = await orQuiet(reading, patience, clock);
      if (first !== "quiet") return take(first);
      if (!isWaiting) {
        canSayStatus = isWhole;
        return "quiet";
      }
      throw busy(BUSY_SECONDS);
    },
    more(use, failed) {
      const taken = (result: IteratorResult<readonly Envelope[]>) => {
        let envelopes: readonly Envelope[];
        try {
          envelopes = take(result);
        } catch (error) {
          return failed(error);
        }
        return use(envelopes);
      };
      // What was said ends in the middle when its session is deleted.
      const broken = (error: unknown) =>
        isDeleted(error) ? taken({ done: true, value: undefined }) : failed(error);
      return (pending ?? batches.next()).then(taken, broken);
    },
    isSpeaking: () => isSpeaking || span.end !== undefined || isEnded,
    isEnded: () => isEnded,
    async leave() {
      left.abort();
      stopWaiting();
      await batches.return();
      // Where the server ends, its readers are not the ones who left: the turn goes on without them.
      if (span.end !== undefined || isDetached || (isEnded && !gone.aborted)) return;
      await giveUp(asked, span.turnId, options).catch((error: unknown) => {
        if (!isDeleted(error)) options.report(error);
      });
    },
  };
}

function endOfDeleted(error: unknown): IteratorResult<readonly Envelope[]> {
  if (!isDeleted(error)) throw error;
  return { done: true, value: undefined };
}

function isDeleted(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "not_found";
}

/** From here on the agent is known to have answered. */
const SPOKEN: ReadonlySet<AgentEvent["type"]> = new Set([
  "message.started",
  "text.delta",
  "text.finished",
  "thought.delta",
  "thought.finished",
  "tool.announced",
  "tool.called",
  "turn.paused",
  "turn.finished",
]);

async function orQuiet<Value>(
  value: Promise<Value>,
  milliseconds: number,
  clock: SteadyClock,
): Promise<Value | "quiet"> {
  let callOff: () => void = () => {};
  const quiet = new Promise<"quiet">((resolve) => {
    callOff = clock.after(milliseconds, () => resolve("quiet"));
  });
  try {
    return await Promise.race([value, quiet]);
  } finally {
    callOff();
  }
}

/** The agent failed before it said a word: the status of the answer can still say so. */
function deadBefore(failure: Failure | undefined, asked: Asked, hasResults: boolean): ApiError {
  const { code, message, details } = failure ?? NOTHING_SAID;
  const { retryAfter } = details;
  // A call that was turned away was not made. Whether one was made that broke, nobody knows. Results are taken once.
  const mayRetry = TURNED_AWAY.has(code) && !hasResults;
  return new ApiError(statusFor(code) ?? 502, code, message, {
    reason: code,
    headers: {
      ...placeHeaders(asked),
      "x-should-retry": String(mayRetry),
      ...(mayRetry && {
        "retry-after": String(
          typeof retryAfter === "number" ? Math.ceil(retryAfter) : BUSY_SECONDS,
        ),
      }),
    },
  });
}

const NOTHING_SAID: Failure = {
  code: "service_failed",
  message: "The agent failed before it said anything",
  details: {},
};

const TURNED_AWAY: ReadonlySet<string> = new Set(["throttled", "conflict", "connect_failed"]);

function endOf({ outcome, usage }: Extract<AgentEvent, { type: "turn.finished" }>): TurnEnded {
  const { inputTokens = 0, outputTokens: output = 0 } = usage ?? {};
  const { cacheReadTokens: cached = 0, cacheWriteTokens = 0 } = usage ?? {};
  return { outcome, input: inputTokens + cached + cacheWriteTokens, cached, output };
}
