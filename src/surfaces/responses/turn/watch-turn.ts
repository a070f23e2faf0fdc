import { waitWithTimeout } from "../../../async/pause.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import type { TurnFinished } from "../../../domain/events/turn-events.ts";
import type { ResponsesSettings } from "../../../domain/responses-settings.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { BUSY_SECONDS, createBusyError, createEarlyFailure } from "../request-errors.ts";
import type { TurnSummary } from "../responses-options.ts";
import { readBatches, readLoggedResponse } from "./read-log.ts";
import { createResponseSpan } from "./response-span.ts";
import type { WaitingCallers } from "./waiting-callers.ts";

export interface WatchOptions {
  readonly sessions: Sessions;
  readonly clock: SteadyClock;
  readonly settings: ResponsesSettings;
  readonly caller: Caller;
  /** Aborted when nobody reads any more. */
  readonly disconnectSignal: AbortSignal;
  /** Nobody has to stay for it: it goes on when its reader leaves, and waits as long as it has to. */
  readonly isDetached: boolean;
  /** Nothing is sent before the end, so that the status can say how it ended, however late. */
  readonly isBuffered?: boolean;
  readonly waitingCallers: WaitingCallers;
  readonly observe?: (end: TurnSummary) => void;
  readonly report: (error: unknown) => void;
}

export interface TurnWatcher {
  /** What happened next, or that nothing did for as long as an answer is held back. */
  next(): Promise<readonly Envelope[] | "quiet">;
  /** All that happens from here on. */
  readRest(): AsyncIterator<readonly Envelope[]>;
  hasOutput(): boolean;
  leave(): Promise<void>;
}

type ReadResult = IteratorResult<readonly Envelope[]>;

/** Reads a session's log from where an answer begins, until it ends or its reader leaves. */
export function watchTurn(submitted: SubmittedPrompt, options: WatchOptions): TurnWatcher {
  const { sessions, clock, settings, disconnectSignal, isDetached, isBuffered = false } = options;
  const { sessionId, seq, promptId } = submitted;
  const leaveController = new AbortController();
  const signal = AbortSignal.any([disconnectSignal, leaveController.signal]);
  const batches = readBatches(submitted, seq, sessions, signal);
  const span = createResponseSpan(promptId);
  let pending: Promise<ReadResult> | undefined;
  const queueDeadline = clock.monotonic() + settings.queueMs;
  // Who looks for something that failed has found it.
  let canSetStatus = !isDetached;
  let hasResults = false;
  let hasOutput = false;
  let hasEnded = false;
  const setWaiting = options.waitingCallers.join(sessionId);
  // What was asked before may have begun meanwhile: the log says.
  setWaiting(submitted.isWaiting === true && !submitted.isRepeated);

  const applyEnvelope = (envelope: Envelope): void => {
    const { event, turnId } = envelope;
    span.apply(envelope);
    hasResults ||= event.type === "tool_results.submitted" && event.promptId === promptId;
    if (span.turnId === undefined || turnId !== span.turnId) return;
    if (event.type === "turn.finished") {
      if (!submitted.isRepeated) options.observe?.(summarizeTurn(event));
      const isEarlyFailure = event.outcome === "failed" && !hasOutput;
      if (isEarlyFailure && canSetStatus)
        throw createEarlyFailure(event.failure, submitted, hasResults);
    }
    hasOutput ||= OUTPUT_EVENTS.has(event.type);
  };
  const applyResult = (result: ReadResult): ReadResult => {
    pending = undefined;
    if (result.done === true) {
      hasEnded = true;
      if (disconnectSignal.aborted) throw new SpanlineError("aborted", "The caller is gone");
      return result;
    }
    for (const envelope of result.value) applyEnvelope(envelope);
    setWaiting(span.turnId === undefined && span.end === undefined);
    return result;
  };

  return {
    async next() {
      const isWaiting = span.turnId === undefined && !isDetached;
      pending ??= batches.next();
      // What the turn before says meanwhile makes the wait for its end no shorter.
      const timeoutMs = isWaiting
        ? Math.max(0, queueDeadline - clock.monotonic())
        : settings.holdMs;
      const reading = isDetached ? pending.catch(toDeletedEnd) : pending;
      const first = await waitWithTimeout(clock, timeoutMs, reading);
      if (first !== "late") return applyResult(first).done === true ? [] : first.value;
      if (!isWaiting) {
        canSetStatus = isBuffered;
        return "quiet";
      }
      throw createBusyError(BUSY_SECONDS);
    },
    readRest: () => ({
      // What was said ends in the middle when its session is deleted.
      next: () =>
        (pending ?? batches.next()).then(applyResult, (error) => applyResult(toDeletedEnd(error))),
    }),
    hasOutput: () => hasOutput || span.end !== undefined || hasEnded,
    async leave() {
      leaveController.abort();
      setWaiting(false);
      await batches.return();
      // Where the server ends, its readers are not the ones who left: the turn goes on without them.
      if (span.end !== undefined || isDetached || (hasEnded && !disconnectSignal.aborted)) return;
      await cancelOnDisconnect(submitted, span.turnId, options).catch((error: unknown) => {
        if (!isSessionDeleted(error)) options.report(error);
      });
    },
  };
}

function toDeletedEnd(error: unknown): ReadResult {
  if (!isSessionDeleted(error)) throw error;
  return { done: true, value: undefined };
}

function isSessionDeleted(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "not_found";
}

/** From here on the agent is known to have answered. */
const OUTPUT_EVENTS: ReadonlySet<SessionEvent["type"]> = new Set([
  "message.started",
  "text.delta",
  "text.finished",
  "thought.delta",
  "thought.finished",
  "tool_call.opened",
  "tool_call.received",
  "turn.paused",
  "turn.finished",
]);

function summarizeTurn({ outcome, usage }: TurnFinished): TurnSummary {
  const { inputTokens = 0, outputTokens: output = 0 } = usage ?? {};
  const { cacheReadTokens: cached = 0, cacheWriteTokens = 0 } = usage ?? {};
  return { outcome, input: inputTokens + cached + cacheWriteTokens, cached, output };
}

interface DisconnectOptions {
  readonly sessions: Sessions;
  readonly settings: ResponsesSettings;
  readonly caller: Caller;
  readonly waitingCallers: WaitingCallers;
}

/**
 * A prompt that waits is taken back; a turn that runs is ended, unless somebody else follows it. `known` is the turn as far as
 * the caller had read: who left before may have had one that is over, and the turn that runs now is another's.
 */
async function cancelOnDisconnect(
  submitted: SubmittedPrompt,
  knownTurnId: string | undefined,
  { sessions, caller, settings, waitingCallers }: DisconnectOptions,
): Promise<void> {
  const { sessionId, promptId } = submitted;
  const from = { principal: caller };
  if (knownTurnId === undefined) {
    const reply = await sessions.command(sessionId, { type: "withdraw-prompt", promptId }, from);
    if (reply.status === "accepted") return;
  }
  if (settings.onDisconnect === "finish") return;
  const turnId = knownTurnId ?? (await readLoggedResponse(submitted, sessions)).openTurnId;
  if (turnId === undefined) return;
  const waitingReaders = waitingCallers.count(sessionId);
  const cancel = { type: "cancel", unlessWatched: true, waitingReaders, turnId } as const;
  await sessions.command(sessionId, cancel, from);
}
