import { orLate } from "../../async/pause.ts";
import type { AgentEvent, TurnFinished } from "../../domain/agent-event.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Caller } from "../../http/caller.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { Sessions } from "../../session/sessions.ts";
import { answerSpan } from "./answer-span.ts";
import type { Asked } from "./ask.ts";
import { deadBefore } from "./dead-before.ts";
import { giveUp } from "./give-up.ts";
import { batchesFrom } from "./read-log.ts";
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
  /** All that happens from here on. */
  rest(): AsyncIterator<readonly Envelope[]>;
  isSpeaking(): boolean;
  leave(): Promise<void>;
}

type Read = IteratorResult<readonly Envelope[]>;

/** Reads a session's log from where an answer begins, until it ends or its reader leaves. */
export function watchTurn(asked: Asked, options: WatchOptions): Watched {
  const { sessions, clock, settings, gone, isDetached, isWhole = false } = options;
  const { sessionId, seq, promptId } = asked;
  const left = new AbortController();
  const signal = AbortSignal.any([gone, left.signal]);
  const batches = batchesFrom(asked, seq, sessions, signal);
  const span = answerSpan(promptId);
  let pending: Promise<Read> | undefined;
  const latest = clock.monotonic() + settings.queueMs;
  // Who looks for something that failed has found it.
  let canSayStatus = !isDetached;
  let hasResults = false;
  let isSpeaking = false;
  let isEnded = false;
  const setWaiting = options.waiting.join(sessionId);
  // What was asked before may have begun meanwhile: the log says.
  setWaiting(asked.isWaiting === true && !asked.isRepeated);

  const note = (envelope: Envelope): void => {
    const { event, turnId } = envelope;
    span.take(envelope);
    hasResults ||= event.type === "results.given" && event.promptId === promptId;
    if (span.turnId === undefined || turnId !== span.turnId) return;
    if (event.type === "turn.finished") {
      if (!asked.isRepeated) options.observe?.(endOf(event));
      const isDead = event.outcome === "failed" && !isSpeaking;
      if (isDead && canSayStatus) throw deadBefore(event.failure, asked, hasResults);
    }
    isSpeaking ||= SPOKEN.has(event.type);
  };
  const take = (result: Read): Read => {
    pending = undefined;
    if (result.done === true) {
      isEnded = true;
      if (gone.aborted) throw new SpanlineError("aborted", "The caller is gone");
      return result;
    }
    for (const envelope of result.value) note(envelope);
    setWaiting(span.turnId === undefined && span.end === undefined);
    return result;
  };

  return {
    async next() {
      const isWaiting = span.turnId === undefined && !isDetached;
      pending ??= batches.next();
      // What the turn before says meanwhile makes the wait for its end no shorter.
      const patience = isWaiting ? Math.max(0, latest - clock.monotonic()) : settings.holdMs;
      const reading = isDetached ? pending.catch(endOfDeleted) : pending;
      const first = await orLate(clock, patience, reading);
      if (first !== "late") return take(first).done === true ? [] : first.value;
      if (!isWaiting) {
        canSayStatus = isWhole;
        return "quiet";
      }
      throw busy(BUSY_SECONDS);
    },
    rest: () => ({
      // What was said ends in the middle when its session is deleted.
      next: () => (pending ?? batches.next()).then(take, (error) => take(endOfDeleted(error))),
    }),
    isSpeaking: () => isSpeaking || span.end !== undefined || isEnded,
    async leave() {
      left.abort();
      setWaiting(false);
      await batches.return();
      // Where the server ends, its readers are not the ones who left: the turn goes on without them.
      if (span.end !== undefined || isDetached || (isEnded && !gone.aborted)) return;
      await giveUp(asked, span.turnId, options).catch((error: unknown) => {
        if (!isDeleted(error)) options.report(error);
      });
    },
  };
}

function endOfDeleted(error: unknown): Read {
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

function endOf({ outcome, usage }: TurnFinished): TurnEnded {
  const { inputTokens = 0, outputTokens: output = 0 } = usage ?? {};
  const { cacheReadTokens: cached = 0, cacheWriteTokens = 0 } = usage ?? {};
  return { outcome, input: inputTokens + cached + cacheWriteTokens, cached, output };
}
