import { pause } from "../../async/pause.ts";
import { isObject, type JsonValue } from "../../data/json.ts";
import type { ClientTools } from "../../domain/client-tools.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import { estimateBytes } from "../../domain/estimate-bytes.ts";
import type { Seed } from "../../domain/id.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { digestValue } from "../../platform/digest.ts";
import type { BlobStore } from "../../store/blob-store.ts";
import type { LeaseStore } from "../../store/lease-store.ts";
import type { LogEntry, LogStore } from "../../store/log-store.ts";
import type { SnapshotStore } from "../../store/snapshot-store.ts";
import type { ClientEditor } from "../../tools/tool.ts";
import { decide, type DecisionResult } from "../decide.ts";
import { due, type Effect } from "../due.ts";
import { refuse } from "../refuse-command.ts";
import type { SessionInput } from "../session-input.ts";
import type { SessionState } from "../session-state.ts";
import type { LiveAgent } from "./agent/live-agent.ts";
import { createEffectRunner } from "./effects/effect-runner.ts";
import { createHostReplies } from "./effects/host-replies.ts";
import { performEffect, recheckBeforeEffect } from "./effects/perform-effect.ts";
import { countCachedBytes, createHistoryCaches } from "./effects/perform-invocation.ts";
import { createConversationReader } from "./history/conversation-reader.ts";
import { appendDecision, type AppendOptions, type AppendResult } from "./log/append-decision.ts";
import { createSnapshotSaver } from "./log/load-state.ts";
import type { ReceiptHeads } from "./log/receipt-head.ts";
import { renewLease, type LeaseOptions } from "./log/renew-lease.ts";
import type { SignContent } from "./log/sign-receipts.ts";
import { createWriteRetry, type WaitingCaller } from "./log/write-retry.ts";

export interface DriverOptions extends LeaseOptions {
  readonly store: LogStore & LeaseStore & SnapshotStore & BlobStore;
  readonly agent: LiveAgent;
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
  send(happening: SessionInput, commandId?: string): Promise<CommandReply | undefined>;
  /** Sets the tools of a client. Resolves with their problems when the usable tools are in the log. */
  setClientTools(clientId: string, equipment: ClientTools): Promise<readonly Failure[]>;
  /** Stops all effects; the log looks as if the process had been killed here. */
  close(): Promise<void>;
}

export function startDriver(initial: SessionState, options: DriverOptions): Driver {
  const { store, lease, clock, agent: liveAgent } = options;
  const { sessionId } = lease;
  const hostReplies = createHostReplies();
  const snapshots = createSnapshotSaver(options, options.snapshotSeq);
  const history = {
    readConversation: createConversationReader(store, sessionId, options),
    caches: createHistoryCaches(),
  };
  let state = initial;
  let tail: Promise<unknown> = Promise.resolve();
  let isOver = false;
  let isClosing = false;
  const stall = createWriteRetry(options);

  const enqueue = (
    input: SessionInput,
    commandId?: string,
    caller?: WaitingCaller,
  ): Promise<CommandReply | undefined> => {
    const done = tail.then(() => step(input, commandId, caller));
    tail = done.catch(() => undefined);
    return done;
  };
  const send: Driver["send"] = async (input, commandId) => {
    // Dropped: the next progress report replaces it, and a long stall would otherwise queue many.
    if (input.type === "tool-progress" && stall.error !== undefined) return undefined;
    if (!CALLER_INPUTS.has(input.type)) return enqueue(input, commandId);
    return stall.runForCaller((caller) => enqueue(input, commandId, caller));
  };
  const runner = createEffectRunner<Effect>({
    run: async (effect, signal) => {
      const agent = await recheckBeforeEffect(effect, {
        liveAgent,
        readState: () => state,
        signal,
        send,
      });
      if (agent === undefined) return;
      const editor = resolveEditor(state, liveAgent);
      const { folders } = state;
      const { retry } = stall;
      const parts = { sessionId, folders, signal, send, hostReplies, ...history, retry };
      const work = { ...options, agent, ...parts };
      await performEffect(effect, { ...work, ...(editor !== undefined && { editor }) });
    },
    waitForStop: (signal) => pause(clock, STOP_WAIT_MS, signal),
    onError: (error) => fail(error),
  });
  const deadline = createAlarm(clock, () => {
    send({ type: "time-passed" }).catch(() => undefined);
  });
  liveAgent.onChange(({ digest, spec }) => {
    send({ type: "agent-changed", agent: { digest, spec } }).catch(() => undefined);
  });
  const stopRenewal = renewLease(options, (error) => fail(error));

  async function step(
    input: SessionInput,
    commandId: string | undefined,
    caller: WaitingCaller | undefined,
  ): Promise<CommandReply | undefined> {
    if (isOver) throw new SpanlineError("aborted", "This session was closed here");
    if (caller?.start() === false) return undefined;
    const seed = options.seed({ sessionId, seq: state.seq });
    const decided = decide(state, { ...input, at: clock.now(), seed });
    const { events, reply } = decided;
    const next = due(decided.state);
    const command = createCommandRecord(input, commandId, reply);
    // `append` recognizes a previously accepted command. It cannot if this attempt is refused, or while writes fail.
    const needsLookup = command === undefined || stall.error !== undefined;
    if (needsLookup && commandId !== undefined) {
      const recordedReply = await store.findReply(sessionId, commandId);
      if (recordedReply !== undefined) return decodeReply(recordedReply, findCommand(input));
    }
    // A command without events is recorded, too: its repetition must also have no effect.
    if (events.length > 0 || command !== undefined) {
      const commandFields = { wakeAt: next.wakeAt, ...(command !== undefined && { command }) };
      const written = await write(decided, commandFields, caller);
      if (written.status === "repeated") return decodeReply(written.reply, findCommand(input));
    }
    if (isOver) return reply;
    runner.reconcile(next.effects);
    deadline.set(next.wakeAt);
    if (isQuiet(state)) options.rested();
    return reply;
  }

  async function write(
    decided: DecisionResult,
    commandFields: AppendOptions["commandFields"],
    caller: WaitingCaller | undefined,
  ): Promise<AppendResult> {
    const { events } = decided;
    let written: AppendResult;
    try {
      const append = () => appendDecision(state, decided, { ...options, commandFields });
      written = await stall.retry(append, caller);
    } catch (error) {
      // An abandoned write left the session unchanged.
      if (caller?.hasGivenUp !== true && !isClosing) fail(error);
      throw error;
    }
    if (written.status === "repeated") return written;
    state = written.state;
    hostReplies.applyEvents(events);
    for (const { event } of events) {
      if (event.type === "client.detached") liveAgent.removeClient(event.clientId);
    }
    // Not awaited: a missing snapshot only means more events to fold.
    snapshots.saveIfDue(events, state).catch(options.report);
    return written;
  }

  function fail(error: unknown): void {
    if (isOver) return;
    options.onFailure(error, end());
  }

  async function end(): Promise<void> {
    isOver = true;
    stall.end();
    deadline.set(null);
    stopRenewal();
    hostReplies.close();
    await runner.stop();
    await liveAgent.close().catch(options.report);
  }

  return {
    ...(liveAgent.idleMs !== undefined && { idleMs: liveAgent.idleMs }),
    get state() {
      return state;
    },
    get isQuiet() {
      return isQuiet(state);
    },
    get writeError() {
      return stall.error;
    },
    get memoryBytes() {
      const { agent, ...own } = state;
      // Sessions opened in this process share the definition of their agent.
      const facts = agent?.spec === liveAgent.current.spec ? 0 : estimateBytes(agent);
      return DRIVER_BYTES + facts + estimateBytes(own) + countCachedBytes(history.caches);
    },
    send,
    async setClientTools(clientId, equipment) {
      const problems = await liveAgent.setClientTools(clientId, equipment);
      const { digest, spec: facts } = liveAgent.current;
      await send({ type: "agent-changed", agent: { digest, spec: facts } });
      if (problems.length > 0) await send({ type: "client-tools-failed", problems });
      return problems;
    },
    async close() {
      // Does not wait for writes which currently fail.
      isClosing = true;
      stall.end();
      await tail;
      await end();
      // Released so the next owner need not wait for its expiry. A lease taken over by another process is not released.
      await store.release(lease).catch(() => undefined);
    },
  };
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

/** Records accepted commands only: a refused command may be sent again. */
function createCommandRecord(
  input: SessionInput,
  id: string | undefined,
  reply: CommandReply | undefined,
): LogEntry["command"] {
  if (id === undefined || reply?.status !== "accepted") return undefined;
  return { id, reply: encodeReply(reply, findCommand(input)) };
}

function findCommand(input: SessionInput): unknown {
  if (input.type === "open-requested") return input.firstCommand?.command;
  return input.type === "command-received" ? input.command : undefined;
}

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

type AcceptedReply = Extract<CommandReply, { readonly status: "accepted" }>;

/**
 * The stored form of a reply. Includes a digest of the command, so another command with the same id is detected.
 * Excludes the client status, because a repeated command must return the current one.
 */
function encodeReply(reply: AcceptedReply, command: unknown): JsonValue {
  const { status, promptId, turnId, seq } = reply;
  return {
    status,
    ...(promptId !== undefined && { promptId }),
    ...(turnId !== undefined && { turnId }),
    ...(seq !== undefined && { seq }),
    digest: digestValue(command),
  };
}

/** Returns the reply of the first attempt. Only accepted commands are stored. */
function decodeReply(value: JsonValue, command: unknown): CommandReply {
  const { promptId, turnId, seq, digest } = isObject(value) ? value : {};
  if (digest !== digestValue(command)) {
    const message =
      "This command id was used for another command. Fix: use a new id for every command";
    return refuse("conflict", message, { reason: "other_command" });
  }
  return {
    status: "accepted",
    ...(typeof promptId === "string" && { promptId }),
    ...(typeof turnId === "string" && { turnId }),
    ...(typeof seq === "number" && { seq }),
  };
}

/** Whether a session may be evicted: nothing runs or waits, no deadline is pending, and no client is attached. */
export function isQuiet(state: SessionState): boolean {
  const { turn, tools, approvals, clients } = state;
  const isResting =
    turn.current === null && turn.queue.length === 0 && tools.processes.length === 0;
  if (!isResting || approvals.pending.length > 0 || clients.attached.length > 0) return false;
  const { effects, wakeAt } = due(state);
  return effects.size === 0 && wakeAt === null;
}
