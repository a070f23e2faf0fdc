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
import { cachedBytes, createHistoryCaches } from "./effects/perform-invocation.ts";
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
  /** Where the last snapshot of the state is. */
  readonly snapshotSeq: number;
  readonly workingDirectory?: string;
  /** Signs the receipts of what was let run; without it they are not signed. */
  readonly sign?: SignContent;
  /** Where the last receipt is recorded; without it, a log whose end was cut off is not noticed. */
  readonly heads?: ReceiptHeads;
  /** Of the session's log. */
  readonly incarnation: string;
  /** How long pieces of text are gathered before they are written down. */
  readonly coalesceMs: number;
  readonly seed: Seed;
  /**
   * Told once, when the session cannot go on: its lease is another's, or its log cannot be written. `over` resolves when
   * nothing of it is under way any more.
   */
  onFailure(error: unknown, over: Promise<void>): void;
  /** Called when an input left the session quiet. */
  rested(): void;
  /** Something went wrong that the log says only the half of. */
  readonly report: (error: unknown) => void;
}

/** Runs one session: writes down what is decided, and then does what is due. One input at a time. */
export interface Driver {
  readonly state: SessionState;
  /** How long it should be kept when nobody uses it; as long as any when absent. */
  readonly idleMs?: number;
  /** The session may leave memory: see `isQuiet`. */
  readonly isQuiet: boolean;
  /** The error of the last write while the log cannot be written; undefined otherwise. */
  readonly writeError: unknown;
  /** Estimated memory of the session, in bytes. Costs a walk over the state. */
  readonly memoryBytes: number;
  /** Resolves when what the input led to is in the log. */
  send(happening: SessionInput, commandId?: string): Promise<CommandReply | undefined>;
  /** What a client brings. Resolves when what it offers is in the log, with what cannot be used of it. */
  setClientTools(clientId: string, equipment: ClientTools): Promise<readonly Failure[]>;
  /** Stops everything that is under way; the log is as if the process had been killed here. */
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
    // The next report of progress replaces it, and a long stall would queue one after the other.
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
    // `append` recognizes a command that was accepted before. It cannot if this attempt is refused, or while writes fail.
    const needsLookup = command === undefined || stall.error !== undefined;
    if (needsLookup && commandId !== undefined) {
      const recordedReply = await store.findReply(sessionId, commandId);
      if (recordedReply !== undefined) return decodeReply(recordedReply, findCommand(input));
    }
    // A command that had nothing to do must have nothing to do when it is sent again.
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
      // What was given up was not written, and the session is as it was.
      if (caller?.hasGivenUp !== true && !isClosing) fail(error);
      throw error;
    }
    if (written.status === "repeated") return written;
    state = written.state;
    hostReplies.applyEvents(events);
    for (const { event } of events) {
      if (event.type === "client.detached") liveAgent.removeClient(event.clientId);
    }
    // Nobody waits for it: without it there is more to fold.
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
      // Sessions that were opened in this process share the facts of their agent.
      const facts = agent?.spec === liveAgent.current.spec ? 0 : estimateBytes(agent);
      return DRIVER_BYTES + facts + estimateBytes(own) + cachedBytes(history.caches);
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
      // What cannot be written now is not waited for.
      isClosing = true;
      stall.end();
      await tail;
      await end();
      // Whoever comes next need not wait for the lease to run out; one that was taken from us is not ours to release.
      await store.release(lease).catch(() => undefined);
    },
  };
}

/** Inputs that somebody waits for, who is told when they cannot be written. */
const CALLER_INPUTS: ReadonlySet<SessionInput["type"]> = new Set([
  "open-requested",
  "command-received",
  "recovery-started",
] as const);

/** Measured: a session of one short turn, with its timers, signals and closures. */
const DRIVER_BYTES = 20_000;

/** How long a tool or a call that was told to stop is waited for. */
const STOP_WAIT_MS = 5000;

/** Only what was accepted is remembered: a refused command may be sent again. */
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

/** Rings once, at the time that it was last set to. */
interface Alarm {
  /** In milliseconds since 1970; null for never. */
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

/** The editor that a call is for: that of whoever prompted, else the controller's. */
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
 * As it is written down: with what was asked, so that another command under the same id is not taken for it. Who was attached
 * then is not: whoever asks again wants to know who is now.
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

/** The reply that a command got the first time. Only accepted commands are written down. */
function decodeReply(value: JsonValue, command: unknown): CommandReply {
  const { promptId, turnId, seq, digest } = isObject(value) ? value : {};
  if (digest !== digestValue(command)) {
    const message = "This command's id was used for another command; give every command its own";
    return refuse("conflict", message, { reason: "other_command" });
  }
  return {
    status: "accepted",
    ...(typeof promptId === "string" && { promptId }),
    ...(typeof turnId === "string" && { turnId }),
    ...(typeof seq === "number" && { seq }),
  };
}

/** Whether a session may leave memory: nothing runs, nothing waits for a time or an answer, and no client is attached. */
export function isQuiet(state: SessionState): boolean {
  const { turn, tools, approvals, clients } = state;
  const isResting =
    turn.current === null && turn.queue.length === 0 && tools.processes.length === 0;
  if (!isResting || approvals.pending.length > 0 || clients.attached.length > 0) return false;
  const { effects, wakeAt } = due(state);
  return effects.size === 0 && wakeAt === null;
}
