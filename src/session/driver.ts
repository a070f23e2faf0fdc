import type { Draft } from "../domain/envelope.ts";
import { needsSync } from "../domain/event-manifest.ts";
import { SpanlineError } from "../domain/errors.ts";
import type { JsonValue } from "../domain/json.ts";
import type { CommandReply } from "../domain/session-command.ts";
import { pause } from "../async/pause.ts";
import type { SteadyClock } from "../platform/clock.ts";
import type { Entry, Lease, Store } from "../store/store.ts";
import type { Agent } from "./agent.ts";
import { decide, type Decided } from "./decide.ts";
import { due, type Effect } from "./due.ts";
import { effectRunner } from "./effect-runner.ts";
import { saveState } from "./load-state.ts";
import { hostAnswers } from "./host-answers.ts";
import type { Happening } from "./input.ts";
import { newSeed } from "./new-id.ts";
import { perform } from "./perform.ts";
import { recordedReply, replyRecord } from "./recorded-reply.ts";
import { sessionFields } from "./session-fields.ts";
import type { SessionState } from "./state.ts";

export interface DriverOptions {
  readonly store: Store;
  readonly lease: Lease;
  /** How long a lease holds that is not renewed. */
  readonly leaseMs: number;
  readonly agent: Agent;
  readonly clock: SteadyClock;
  readonly workingDirectory?: string;
  /** How long pieces of text are gathered before they are written down. */
  readonly coalesceMs: number;
  /**
   * Told once, when the session cannot go on: its lease is another's, or its log cannot be written. `over` resolves when
   * nothing of it is under way any more.
   */
  failed(error: unknown, over: Promise<void>): void;
  /** Something went wrong that the log says only the half of. */
  readonly report: (error: unknown) => void;
}

/** Runs one session: writes down what is decided, and then does what is due. One input at a time. */
export interface Driver {
  readonly state: SessionState;
  /** Resolves when what the input led to is in the log. */
  send(happening: Happening, commandId?: string): Promise<CommandReply | undefined>;
  /** Stops everything that is under way; the log is as if the process had been killed here. */
  close(): Promise<void>;
}

export function startDriver(from: SessionState, options: DriverOptions): Driver {
  const { store, lease, clock } = options;
  const { sessionId } = lease;
  const answers = hostAnswers();
  let state = from;
  let tail: Promise<unknown> = Promise.resolve();
  let isOver = false;
  let snapshotSeq = from.seq;
  let stopRenewal = (): void => undefined;
  let stopTimer: (() => void) | undefined;

  const send: Driver["send"] = (happening, commandId) => {
    const done = tail.then(() => step(happening, commandId));
    tail = done.catch(() => undefined);
    return done;
  };

  const runner = effectRunner<Effect>({
    run: (effect, signal) => perform(effect, { ...options, sessionId, signal, send, answers }),
    patience: (signal) => pause(clock, PATIENCE_MS, signal),
    broke: (error) => fail(error),
  });

  async function step(happening: Happening, commandId?: string): Promise<CommandReply | undefined> {
    if (isOver) throw new SpanlineError("aborted", "This session was closed here");
    const before =
      commandId === undefined ? undefined : await store.findReply(sessionId, commandId);
    if (before !== undefined) return recordedReply(before, commandOf(happening));
    const decided = decide(state, { ...happening, at: clock.now(), seed: newSeed() });
    const { events, reply } = decided;
    const command =
      commandId === undefined || reply?.status !== "accepted"
        ? {}
        : { command: { id: commandId, reply: replyRecord(reply, commandOf(happening)) } };
    // A command that had nothing to do must have nothing to do when it is sent again.
    if (events.length > 0 || command.command !== undefined) {
      const earlier = await append(decided, command);
      if (earlier !== undefined) return recordedReply(earlier, commandOf(happening));
    }
    if (!isOver) reconcile();
    return reply;
  }

  /** Gives the reply that the command got before, if it did. */
  async function append(
    { events, state: next }: Decided,
    command: Pick<Entry, "command">,
  ): Promise<JsonValue | undefined> {
    const { wakeAt } = due(next);
    const sync = events.some(({ event }) => needsSync(event));
    const index = sessionFields(events, next);
    try {
      const entry = { events, sync, index, wakeAt, ...command };
      const appended = await store.append(lease, state.seq, entry);
      if (appended.status === "repeated") return appended.reply;
    } catch (error) {
      fail(error);
      throw error;
    }
    state = next;
    answers.take(events);
    keepSnapshot(events);
    return undefined;
  }

  /** Where little is under way, so that it is small. Nobody waits for it: without it there is more to fold. */
  function keepSnapshot(events: readonly Draft[]): void {
    if (state.seq - snapshotSeq < SNAPSHOT_EVENTS) return;
    if (!events.some(({ event }) => event.type === "turn.finished")) return;
    snapshotSeq = state.seq;
    saveState(store, lease, state).catch(options.report);
  }

  function reconcile(): void {
    const { effects, wakeAt } = due(state);
    runner.reconcile(effects);
    stopTimer?.();
    stopTimer = undefined;
    if (wakeAt === null) return;
    stopTimer = clock.after(Math.max(0, wakeAt - clock.now()), () => {
      send({ type: "time-passed" }).catch(() => undefined);
    });
  }

  function renewLater(): void {
    if (isOver) return;
    stopRenewal = clock.after(options.leaseMs / 2, () => {
      store
        .renew(lease, clock.now(), options.leaseMs)
        .then((isOurs) => (isOurs ? renewLater() : fail(leaseTaken(sessionId))))
        .catch(fail);
    });
  }

  function fail(error: unknown): void {
    if (isOver) return;
    options.failed(error, end());
  }

  async function end(): Promise<void> {
    isOver = true;
    stopTimer?.();
    stopRenewal();
    answers.close();
    await runner.stop();
  }

  renewLater();
  return {
    get state() {
      return state;
    },
    send,
    async close() {
      await tail;
      await end();
      // Whoever comes next need not wait for the lease to run out; one that was taken from us is not ours to release.
      await store.release(lease).catch(() => undefined);
    },
  };
}

const SNAPSHOT_EVENTS = 500;

function leaseTaken(sessionId: string): SpanlineError {
  return new SpanlineError("stale_lease", `Another process has the session ${sessionId}`);
}

/** How long a tool or a call that was told to stop is waited for. */
const PATIENCE_MS = 5000;

function commandOf(happening: Happening): unknown {
  return happening.type === "commanded" ? happening.command : undefined;
}
