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
import { readBatches } from "../../log/read-log.ts";
import { readLoggedResponse } from "./logged-response.ts";
import { isSessionDeleted } from "../../log/session-deleted.ts";
import { createResponseSpan, type ResponseSpan } from "./response-span.ts";
import type { WaitingCallers } from "./waiting-callers.ts";

export interface WatchOptions {
  readonly sessions: Sessions;
  readonly clock: SteadyClock;
  readonly settings: ResponsesSettings;
  readonly caller: Caller;
  /** Aborts when the reader is gone. */
  readonly disconnectSignal: AbortSignal;
  /** Whether the turn continues after its reader leaves. A detached turn also waits in the queue without a limit. */
  readonly isDetached: boolean;
  /**
   * Whether the response is sent as a whole, so the HTTP status can report the outcome however late. Default: false.
   */
  readonly isBuffered?: boolean;
  readonly waitingCallers: WaitingCallers;
  readonly observe?: (end: TurnSummary) => void;
  readonly report: (error: unknown) => void;
}

export interface TurnWatcher {
  /** The next events, or "quiet" if there were none within `holdMs`. */
  next(): Promise<readonly Envelope[] | "quiet">;
  /** The events after the last `next()`, until the end of the response. */
  readRest(): AsyncIterator<readonly Envelope[]>;
  hasOutput(): boolean;
  leave(): Promise<void>;
}

type ReadResult = IteratorResult<readonly Envelope[]>;

/** Reads a session's log from the start of a response until its end, or until the reader leaves. */
export function watchTurn(submitted: SubmittedPrompt, options: WatchOptions): TurnWatcher {
  const { sessions, clock, settings, disconnectSignal, isDetached, isBuffered = false } = options;
  const { sessionId, seq } = submitted;
  const leaveController = new AbortController();
  const signal = AbortSignal.any([disconnectSignal, leaveController.signal]);
  const batches = readBatches(submitted, seq, sessions, signal);
  const progress = new TurnProgress(submitted, options);
  const { span } = progress;
  let pending: Promise<ReadResult> | undefined;
  const queueDeadline = clock.monotonic() + settings.queueMs;
  let hasEnded = false;
  const setWaiting = options.waitingCallers.join(sessionId);
  // A repeated prompt may have started meanwhile; its events in the log decide.
  setWaiting(submitted.isWaiting === true && !submitted.isRepeated);

  const applyResult = (result: ReadResult): ReadResult => {
    pending = undefined;
    if (result.done === true) {
      hasEnded = true;
      checkNotDisconnected(disconnectSignal);
      return result;
    }
    for (const envelope of result.value) progress.apply(envelope);
    setWaiting(span.turnId === undefined && span.end === undefined);
    return result;
  };

  return {
    async next() {
      const isWaiting = span.turnId === undefined && !isDetached;
      pending ??= batches.next();
      // A fixed deadline: output of the running turn does not extend or shorten the wait.
      const timeoutMs = isWaiting
        ? Math.max(0, queueDeadline - clock.monotonic())
        : settings.holdMs;
      const reading = isDetached ? pending.catch(toDeletedEnd) : pending;
      const first = await waitWithTimeout(clock, timeoutMs, reading);
      if (first !== "late") return applyResult(first).done === true ? [] : first.value;
      if (isWaiting) throw createBusyError(BUSY_SECONDS);
      progress.canSetStatus = isBuffered;
      return "quiet";
    },
    readRest: () => ({
      // If the session is deleted, the response ends with the events so far.
      next: () =>
        (pending ?? batches.next()).then(applyResult, (error) => applyResult(toDeletedEnd(error))),
    }),
    hasOutput: () => progress.hasOutput || span.end !== undefined || hasEnded,
    async leave() {
      leaveController.abort();
      setWaiting(false);
      await batches.return();
      // At a server shutdown the reader did not leave, so its turn continues.
      if (span.end !== undefined || isDetached || (hasEnded && !disconnectSignal.aborted)) return;
      await cancelOnDisconnect(submitted, span.turnId, options).catch((error: unknown) => {
        if (!isSessionDeleted(error)) options.report(error);
      });
    },
  };
}

function checkNotDisconnected(disconnectSignal: AbortSignal): void {
  if (disconnectSignal.aborted) throw new SpanlineError("aborted", "The caller has disconnected");
}

/** The progress of a response, as far as its events were read. */
class TurnProgress {
  readonly span: ResponseSpan;
  /** Whether the HTTP status can still report a failure. */
  canSetStatus: boolean;
  hasOutput = false;
  #hasResults = false;
  readonly #submitted: SubmittedPrompt;
  readonly #observe: WatchOptions["observe"];

  constructor(submitted: SubmittedPrompt, { isDetached, observe }: WatchOptions) {
    this.span = createResponseSpan(submitted.promptId);
    // A detached reader gets a failed response with status 200: the response itself was found.
    this.canSetStatus = !isDetached;
    this.#submitted = submitted;
    this.#observe = observe;
  }

  /** Throws the failure of the turn if the turn failed before any output, and the HTTP status can report it. */
  apply(envelope: Envelope): void {
    const { event, turnId } = envelope;
    const { promptId, isRepeated } = this.#submitted;
    this.span.apply(envelope);
    this.#hasResults ||= event.type === "tool_results.submitted" && event.promptId === promptId;
    if (this.span.turnId === undefined || turnId !== this.span.turnId) return;
    if (event.type === "turn.finished") {
      if (!isRepeated) this.#observe?.(summarizeTurn(event));
      const isEarlyFailure = event.outcome === "failed" && !this.hasOutput;
      if (isEarlyFailure && this.canSetStatus)
        throw createEarlyFailure(event.failure, this.#submitted, this.#hasResults);
    }
    this.hasOutput ||= OUTPUT_EVENTS.has(event.type);
  }
}

function toDeletedEnd(error: unknown): ReadResult {
  if (!isSessionDeleted(error)) throw error;
  return { done: true, value: undefined };
}

/** Events that count as output of the agent. */
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
 * Withdraws a queued prompt, or cancels the running turn unless another client follows the turn. `knownTurnId` is the
 * turn as far as the caller had read: the caller's turn may be over, and the turn running now may belong to another
 * caller.
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
