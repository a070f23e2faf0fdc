import type { Equipment } from "../domain/equipment.ts";
import { SpanlineError, type Failure } from "../domain/errors.ts";
import { estimateBytes } from "../domain/estimate-bytes.ts";
import type { CommandReply } from "../domain/session-command.ts";
import { pause } from "../async/pause.ts";
import type { Entry } from "../store/store.ts";
import { alarm } from "./alarm.ts";
import { decide, type Decided } from "./decide.ts";
import { due, type Effect } from "./due.ts";
import { editorOf } from "./editor-of.ts";
import { effectRunner } from "./effect-runner.ts";
import { hostAnswers } from "./host-answers.ts";
import type { Happening } from "./input.ts";
import { isQuiet } from "./is-quiet.ts";
import { judgedAgent } from "./judged-agent.ts";
import { keepLease, type LeaseOptions } from "./keep-lease.ts";
import { keepSnapshots } from "./keep-snapshots.ts";
import type { LiveAgent } from "./live-agent.ts";
import { logConversation } from "./log-conversation.ts";
import { logStall, type Caller } from "./log-stall.ts";
import type { Seed } from "./new-id.ts";
import { cachedBytes, historyCaches } from "./perform-call.ts";
import { perform } from "./perform.ts";
import type { ReceiptHeads } from "./receipt-heads.ts";
import { recordedReply, replyRecord } from "./recorded-reply.ts";
import type { Sign } from "./sign-receipts.ts";
import type { SessionState } from "./state.ts";
import { writeDown, type WriteOptions, type Written } from "./write-down.ts";

export interface DriverOptions extends LeaseOptions {
  readonly agent: LiveAgent;
  /** Where the last snapshot of the state is. */
  readonly snapshotSeq: number;
  readonly workingDirectory?: string;
  /** Signs the receipts of what was let run; without it they are not signed. */
  readonly sign?: Sign;
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
  failed(error: unknown, over: Promise<void>): void;
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
  /** Estimated memory of the session, in bytes. Costs a walk over the state. */
  readonly memoryBytes: number;
  /** Resolves when what the input led to is in the log. */
  send(happening: Happening, commandId?: string): Promise<CommandReply | undefined>;
  /** What a client brings. Resolves when what it offers is in the log, with what cannot be used of it. */
  equip(clientId: string, equipment: Equipment): Promise<readonly Failure[]>;
  /** Stops everything that is under way; the log is as if the process had been killed here. */
  close(): Promise<void>;
}

export function startDriver(from: SessionState, options: DriverOptions): Driver {
  const { store, lease, clock, agent: live } = options;
  const { sessionId } = lease;
  const answers = hostAnswers();
  const snapshots = keepSnapshots(options, options.snapshotSeq);
  const history = {
    conversation: logConversation(store, sessionId, options),
    caches: historyCaches(),
  };
  let state = from;
  let tail: Promise<unknown> = Promise.resolve();
  let isOver = false;
  let isClosing = false;
  const stall = logStall(options);

  const enqueue = (
    happening: Happening,
    commandId?: string,
    caller?: Caller,
  ): Promise<CommandReply | undefined> => {
    const done = tail.then(() => step(happening, commandId, caller));
    tail = done.catch(() => undefined);
    return done;
  };
  const send: Driver["send"] = async (happening, commandId) => {
    // The next report of progress replaces it, and a long stall would queue one after the other.
    if (happening.type === "tool-progressed" && stall.error !== undefined) return undefined;
    if (!FROM_CALLERS.has(happening.type)) return enqueue(happening, commandId);
    return stall.forCaller((caller) => enqueue(happening, commandId, caller));
  };
  const runner = effectRunner<Effect>({
    run: async (effect, signal) => {
      const agent = await judgedAgent(effect, { live, state: () => state, signal, send });
      if (agent === undefined) return;
      const editor = editorOf(state, live);
      const { folders } = state;
      const { retry } = stall;
      const parts = { sessionId, folders, signal, send, answers, ...history, retry };
      const work = { ...options, agent, ...parts };
      await perform(effect, { ...work, ...(editor !== undefined && { editor }) });
    },
    patience: (signal) => pause(clock, PATIENCE_MS, signal),
    broke: (error) => fail(error),
  });
  const deadline = alarm(clock, () => {
    send({ type: "time-passed" }).catch(() => undefined);
  });
  live.onChange(({ digest, facts }) => {
    send({ type: "agent-changed", agent: { digest, facts } }).catch(() => undefined);
  });
  const stopRenewal = keepLease(options, (error) => fail(error));

  async function step(
    happening: Happening,
    commandId: string | undefined,
    caller: Caller | undefined,
  ): Promise<CommandReply | undefined> {
    if (isOver) throw new SpanlineError("aborted", "This session was closed here");
    if (caller?.start() === false) return undefined;
    // To a session that is being opened nobody has said anything.
    const isKnown = commandId === undefined || happening.type === "opened";
    const before = isKnown ? undefined : await store.findReply(sessionId, commandId);
    if (before !== undefined) return recordedReply(before, commandOf(happening));
    const seed = options.seed({ sessionId, seq: state.seq });
    const decided = decide(state, { ...happening, at: clock.now(), seed });
    const { events, reply } = decided;
    const next = due(decided.state);
    const command = acceptedCommand(happening, commandId, reply);
    // A command that had nothing to do must have nothing to do when it is sent again.
    if (events.length > 0 || command !== undefined) {
      const beside = { wakeAt: next.wakeAt, ...(command !== undefined && { command }) };
      const written = await write(decided, beside, caller);
      if (written.status === "repeated") return recordedReply(written.reply, commandOf(happening));
    }
    if (isOver) return reply;
    runner.reconcile(next.effects);
    deadline.set(next.wakeAt);
    if (isQuiet(state)) options.rested();
    return reply;
  }

  async function write(
    decided: Decided,
    beside: WriteOptions["beside"],
    caller: Caller | undefined,
  ): Promise<Written> {
    const { events } = decided;
    let written: Written;
    try {
      const append = () => writeDown(state, decided, { ...options, beside });
      written = await stall.retry(append, caller);
    } catch (error) {
      // What was given up was not written, and the session is as it was.
      if (caller?.hasGivenUp !== true && !isClosing) fail(error);
      throw error;
    }
    if (written.status === "repeated") return written;
    state = written.state;
    answers.take(events);
    for (const { event } of events) {
      if (event.type === "client.detached") live.left(event.clientId);
    }
    // Nobody waits for it: without it there is more to fold.
    snapshots.after(events, state).catch(options.report);
    return written;
  }

  function fail(error: unknown): void {
    if (isOver) return;
    options.failed(error, end());
  }

  async function end(): Promise<void> {
    isOver = true;
    stall.end();
    deadline.set(null);
    stopRenewal();
    answers.close();
    await runner.stop();
    await live.close().catch(options.report);
  }

  return {
    ...(live.idleMs !== undefined && { idleMs: live.idleMs }),
    get state() {
      return state;
    },
    get isQuiet() {
      return isQuiet(state);
    },
    get memoryBytes() {
      const { agent, ...own } = state;
      // Sessions that were opened in this process share the facts of their agent.
      const facts = agent?.facts === live.current.facts ? 0 : estimateBytes(agent);
      return DRIVER_BYTES + facts + estimateBytes(own) + cachedBytes(history.caches);
    },
    send,
    async equip(clientId, equipment) {
      const problems = await live.equip(clientId, equipment);
      const { digest, facts } = live.current;
      await send({ type: "agent-changed", agent: { digest, facts } });
      if (problems.length > 0) await send({ type: "equipment-failed", problems });
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
const FROM_CALLERS: ReadonlySet<Happening["type"]> = new Set([
  "opened",
  "commanded",
  "recovered",
] as const);

/** Measured: a session of one short turn, with its timers, signals and closures. */
const DRIVER_BYTES = 20_000;

/** How long a tool or a call that was told to stop is waited for. */
const PATIENCE_MS = 5000;

/** Only what was accepted is remembered: a refused command may be sent again. */
function acceptedCommand(
  happening: Happening,
  id: string | undefined,
  reply: CommandReply | undefined,
): Entry["command"] {
  if (id === undefined || reply?.status !== "accepted") return undefined;
  return { id, reply: replyRecord(reply, commandOf(happening)) };
}

function commandOf(happening: Happening): unknown {
  if (happening.type === "opened") return happening.first?.command;
  return happening.type === "commanded" ? happening.command : undefined;
}
