import { pause } from "../../async/pause.ts";
import type { ClientTools } from "../../domain/client-tools.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import { estimateBytes } from "../../data/estimate-bytes.ts";
import type { Seed } from "../../domain/id.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import type { BlobStore } from "../../store/blob-store.ts";
import type { LeaseStore } from "../../store/lease-store.ts";
import type { LogStore } from "../../store/log-store.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import type { ClientEditor } from "../../tools/tool.ts";
import { decide, needsChangedFiles, type DecisionResult } from "../decide.ts";
import { findDueEffects, type Effect } from "../due-effects.ts";
import type { SessionInput, TimedInput } from "../session-input.ts";
import type { SessionState } from "../session-state.ts";
import type { LiveAgent } from "./agent/live-agent.ts";
import type { BudgetLedger } from "./effects/budget-ledger.ts";
import type { ChildSessions } from "./effects/child-sessions.ts";
import { createEffectRunner, type EffectRunner } from "./effects/effect-runner.ts";
import { createHostReplies } from "./effects/host-replies.ts";
import {
  performEffect,
  recheckBeforeEffect,
  type EffectContext,
} from "./effects/perform-effect.ts";
import { countCachedBytes, createHistoryCaches } from "./effects/perform-invocation.ts";
import { findChangedFiles } from "./find-changed-files.ts";
import { createConversationReader } from "./history/conversation-reader.ts";
import {
  appendDecision,
  type AppendOptions,
  type AppendResult,
  type SignContent,
} from "./log/append-decision.ts";
import { createCommandRecord, decodeReply } from "./log/command-record.ts";
import { createSnapshotSaver, type SnapshotSaver } from "./log/load-state.ts";
import type { ReceiptHeads } from "./log/receipt-head.ts";
import { renewLease, type LeaseOptions } from "./log/renew-lease.ts";
import { createWriteRetry, type WaitingCaller, type WriteRetry } from "./log/write-retry.ts";

export interface DriverOptions extends LeaseOptions {
  readonly store: LogStore & LeaseStore & SnapshotStore & BlobStore;
  readonly agent: LiveAgent;
  /** The budgets which all sessions of this process share. */
  readonly ledger: BudgetLedger;
  /** The sessions of workers. */
  readonly children: ChildSessions;
  /** Position of the latest snapshot. */
  readonly snapshotSeq: number;
  readonly workingDirectory?: string;
  /** Signs receipts. Without it, they are unsigned. */
  readonly sign?: SignContent;
  /** Records the last receipt. Without it, a truncated log is not detected. */
  readonly heads?: ReceiptHeads;
  /** Incarnation of the session's log. */
  readonly incarnation: string;
  /** Milliseconds for which deltas are collected before they are logged. */
  readonly coalesceMs: number;
  readonly seed: Seed;
  /**
   * Called once if the session cannot continue: it lost its lease, or its log cannot be written. `over` resolves when
   * all effects have ended.
   */
  onFailure(error: unknown, over: Promise<void>): void;
  /** Called after an input which left the session quiet. */
  rested(): void;
  /** Called with errors of which the log has only a part. */
  readonly report: (error: unknown) => void;
}

/** Runs a session: logs each decision, then performs the due effects. Inputs are processed one at a time. */
export interface Driver {
  readonly state: SessionState;
  /** Milliseconds to keep an unused session in memory. Absent: the default. */
  readonly idleMs?: number;
  /** Whether the session may be evicted: see `isQuiet`. */
  readonly isQuiet: boolean;
  /** The error of the last write while the log cannot be written. Undefined otherwise. */
  readonly writeError: unknown;
  /** Estimated memory of the session, in bytes. Costs a walk over the state. */
  readonly memoryBytes: number;
  /** Resolves when the events of the input are in the log. */
  send(input: SessionInput, commandId?: string): Promise<CommandReply | undefined>;
  /** Resolves when all inputs sent before are processed: `state` then contains every event published so far. */
  drain(): Promise<void>;
  /** Sets the tools of a client. Resolves with their problems when the usable tools are in the log. */
  setClientTools(clientId: string, equipment: ClientTools): Promise<readonly Failure[]>;
  /** Stops all effects; the log looks as if the process had been killed here. */
  close(): Promise<void>;
}

export function startDriver(initial: SessionState, options: DriverOptions): Driver {
  return new SessionDriver(initial, options);
}

class SessionDriver implements Driver {
  readonly idleMs?: number;
  readonly #options: DriverOptions;
  readonly #hostReplies = createHostReplies();
  readonly #snapshots: SnapshotSaver;
  readonly #history: Pick<EffectContext, "readConversation" | "caches">;
  readonly #stall: WriteRetry;
  readonly #runner: EffectRunner<Effect>;
  readonly #deadline: Alarm;
  readonly #stopRenewal: () => void;
  #state: SessionState;
  /** Settles when the latest input is processed. */
  #tail: Promise<unknown> = Promise.resolve();
  #isOver = false;
  #isClosing = false;

  constructor(initial: SessionState, options: DriverOptions) {
    const { store, lease, clock, agent: liveAgent } = options;
    this.#options = options;
    this.#state = initial;
    if (liveAgent.idleMs !== undefined) this.idleMs = liveAgent.idleMs;
    this.#snapshots = createSnapshotSaver(options, options.snapshotSeq);
    this.#history = {
      readConversation: createConversationReader(store, lease.sessionId, options),
      caches: createHistoryCaches(),
    };
    this.#stall = createWriteRetry(options);
    this.#runner = createEffectRunner<Effect>({
      run: (effect, signal) => this.#runEffect(effect, signal),
      waitForStop: (signal) => pause(clock, STOP_WAIT_MS, signal),
      onError: (error) => this.#fail(error),
    });
    this.#deadline = createAlarm(clock, () => {
      this.send({ type: "time-passed" }).catch(() => undefined);
    });
    liveAgent.onChange(({ digest, spec }) => {
      this.send({ type: "agent-changed", agent: { digest, spec } }).catch(() => undefined);
    });
    this.#stopRenewal = renewLease(options, (error) => this.#fail(error));
  }

  get state(): SessionState {
    return this.#state;
  }

  get isQuiet(): boolean {
    return isQuiet(this.#state);
  }

  get writeError(): unknown {
    return this.#stall.error;
  }

  get memoryBytes(): number {
    const { agent, ...own } = this.#state;
    // Sessions opened in this process share the definition of their agent.
    const isShared = agent?.spec === this.#options.agent.current.spec;
    const facts = isShared ? 0 : estimateBytes(agent);
    return DRIVER_BYTES + facts + estimateBytes(own) + countCachedBytes(this.#history.caches);
  }

  async send(input: SessionInput, commandId?: string): Promise<CommandReply | undefined> {
    // Dropped: the next progress report replaces it, and a long stall would otherwise queue many.
    if (input.type === "tool-progress" && this.#stall.error !== undefined) return undefined;
    if (!CALLER_INPUTS.has(input.type)) return this.#enqueue(input, commandId);
    return this.#stall.runForCaller((caller) => this.#enqueue(input, commandId, caller));
  }

  async drain(): Promise<void> {
    await this.#tail;
  }

  async setClientTools(clientId: string, equipment: ClientTools): Promise<readonly Failure[]> {
    const { agent: liveAgent } = this.#options;
    const problems = await liveAgent.setClientTools(clientId, equipment);
    const { digest, spec: facts } = liveAgent.current;
    await this.send({ type: "agent-changed", agent: { digest, spec: facts } });
    if (problems.length > 0) await this.send({ type: "client-tools-failed", problems });
    return problems;
  }

  async close(): Promise<void> {
    const { store, lease } = this.#options;
    // Does not wait for writes which currently fail.
    this.#isClosing = true;
    this.#stall.end();
    await this.#tail;
    await this.#end();
    // Released so the next owner need not wait for its expiry. A lease taken over by another process is not released.
    await store.release(lease).catch(() => undefined);
  }

  #enqueue(
    input: SessionInput,
    commandId?: string,
    caller?: WaitingCaller,
  ): Promise<CommandReply | undefined> {
    const done = this.#tail.then(() => this.#step(input, commandId, caller));
    this.#tail = done.catch(() => undefined);
    return done;
  }

  async #step(
    input: SessionInput,
    commandId: string | undefined,
    caller: WaitingCaller | undefined,
  ): Promise<CommandReply | undefined> {
    const { store, lease, clock, seed: createSeed } = this.#options;
    const { sessionId } = lease;
    if (this.#isOver) throw new SpanlineError("aborted", "This session was closed here");
    if (caller?.start() === false) return undefined;
    const seed = createSeed({ sessionId, seq: this.#state.seq });
    const timed = { ...input, at: clock.now(), seed };
    let decided = decide(this.#state, timed);
    if (needsChangedFiles(decided)) decided = await this.#nameChangedFiles(timed, decided);
    const { events, reply } = decided;
    const next = findDueEffects(decided.state);
    const command = createCommandRecord(input, commandId, reply);
    // `append` recognizes a previously accepted command. It cannot if this attempt is refused, or while writes fail.
    const needsLookup = command === undefined || this.#stall.error !== undefined;
    if (needsLookup && commandId !== undefined) {
      const recordedReply = await store.findReply(sessionId, commandId);
      if (recordedReply !== undefined) return decodeReply(recordedReply, input);
    }
    // A command without events is recorded, too: its repetition must also have no effect.
    if (events.length > 0 || command !== undefined) {
      const commandFields = { wakeAt: next.wakeAt, ...(command !== undefined && { command }) };
      const written = await this.#write(decided, commandFields, caller);
      if (written.status === "repeated") return decodeReply(written.reply, input);
    }
    if (this.#isOver) return reply;
    this.#runner.reconcile(next.effects);
    this.#deadline.set(next.wakeAt);
    if (isQuiet(this.#state)) this.#options.rested();
    return reply;
  }

  /**
   * Decides again if an invocation would start and files have changed, because the invocation names these files.
   * `decided`: the decision about the input.
   */
  async #nameChangedFiles(input: TimedInput, decided: DecisionResult): Promise<DecisionResult> {
    const { agent: liveAgent } = this.#options;
    const changedFiles = await findChangedFiles(decided.state, {
      ...this.#options,
      agent: liveAgent.current,
      hasEditor: resolveEditor(decided.state, liveAgent) !== undefined,
    });
    return changedFiles.length === 0 ? decided : decide(this.#state, { ...input, changedFiles });
  }

  async #write(
    decided: DecisionResult,
    commandFields: AppendOptions["commandFields"],
    caller: WaitingCaller | undefined,
  ): Promise<AppendResult> {
    const options = this.#options;
    const { events } = decided;
    let written: AppendResult;
    try {
      const append = () => appendDecision(this.#state, decided, { ...options, commandFields });
      written = await this.#stall.retry(append, caller);
    } catch (error) {
      // An abandoned write left the session unchanged.
      if (caller?.hasGivenUp !== true && !this.#isClosing) this.#fail(error);
      throw error;
    }
    if (written.status === "repeated") return written;
    this.#state = written.state;
    for (const { event } of events) {
      if (event.type === "host.replied") this.#hostReplies.applyReply(event);
      if (event.type === "client.detached") options.agent.removeClient(event.clientId);
    }
    // Not awaited: a missing snapshot only means more events to fold.
    this.#snapshots.saveIfDue(events, this.#state).catch(options.report);
    return written;
  }

  async #runEffect(effect: Effect, signal: AbortSignal): Promise<void> {
    const { agent: liveAgent, lease } = this.#options;
    const send = (input: SessionInput) => this.send(input);
    const readState = () => this.#state;
    const agent = await recheckBeforeEffect(effect, { liveAgent, readState, signal, send });
    if (agent === undefined) return;
    await performEffect(effect, {
      ...this.#options,
      ...this.#history,
      agent,
      sessionId: lease.sessionId,
      folders: this.#state.folders,
      signal,
      send,
      hostReplies: this.#hostReplies,
      readEmissionRoom: () => this.#state,
      retry: this.#stall.retry,
      findEditor: () => resolveEditor(this.#state, liveAgent),
    });
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#options.onFailure(error, this.#end());
  }

  async #end(): Promise<void> {
    const { agent: liveAgent, report } = this.#options;
    this.#isOver = true;
    this.#stall.end();
    this.#deadline.set(null);
    this.#stopRenewal();
    this.#hostReplies.close();
    await this.#runner.stop();
    await liveAgent.close().catch(report);
  }
}

/** Inputs with a waiting caller, who receives write errors. */
const CALLER_INPUTS: ReadonlySet<SessionInput["type"]> = new Set([
  "open-requested",
  "command-received",
  "recovery-started",
] as const);

/** Measured for a session of one short turn, including timers, signals and closures. */
const DRIVER_BYTES = 20_000;

/** Milliseconds to wait for an aborted tool or invocation. */
const STOP_WAIT_MS = 5000;

/** A timer for the latest time set; fires once. */
interface Alarm {
  /** Milliseconds since 1970. Null: never. */
  set(at: number | null): void;
}

function createAlarm(clock: SteadyClock, onAlarm: () => void): Alarm {
  let stopTimer: (() => void) | undefined;
  return {
    set(at) {
      stopTimer?.();
      stopTimer = at === null ? undefined : clock.schedule(Math.max(0, at - clock.now()), onAlarm);
    },
  };
}

/** Returns the editor used by a tool: the prompter's, else the controller's. */
function resolveEditor(
  { turn, clients }: Pick<SessionState, "turn" | "clients">,
  liveAgent: Pick<LiveAgent, "findEditor">,
): ClientEditor | undefined {
  for (const clientId of [turn.current?.submitter?.clientId, clients.controller]) {
    const offer = typeof clientId === "string" ? liveAgent.findEditor(clientId) : undefined;
    if (typeof clientId === "string" && offer !== undefined) return { clientId, ...offer };
  }
  return undefined;
}

/** Whether a session may be evicted: nothing runs or waits, no deadline is pending, and no client is attached. */
export function isQuiet(state: SessionState): boolean {
  const { turn, tools, approvals, clients } = state;
  const isResting =
    turn.current === null && turn.queue.length === 0 && tools.processes.length === 0;
  if (!isResting || approvals.pending.length > 0 || clients.attached.length > 0) return false;
  const { effects, wakeAt } = findDueEffects(state);
  // A session with waiting workers only may rest: the next use of the session reports what it missed.
  return wakeAt === null && [...effects.values()].every(({ type }) => type === "follow-worker");
}
