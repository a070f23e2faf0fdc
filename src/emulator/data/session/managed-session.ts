import type { JsonValue } from "../../../data/json.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Message } from "../../brains/session-message.ts";
import { ConnectionReset } from "../../service/service-types.ts";
import type { Switches } from "../../switches.ts";
import type { SessionJournal } from "./session-journal.ts";
import type { SessionRecord } from "./session-log.ts";
import { computeSessionEnd } from "./service-session-state.ts";
import type { OpenTurn, ServiceSession, SessionCommand, SessionOwner } from "./service-session.ts";
import { runShell, type ShellExit } from "./run-shell.ts";
import type { TurnInterruption } from "../turn/run-brain.ts";
import type { SessionWorkspace } from "./session-workspace.ts";

export interface ManagedSessionOptions {
  readonly journal: SessionJournal;
  readonly workspace: SessionWorkspace;
  readonly clock: Clock;
  readonly switches: Switches;
  /** Called when a turn or a command has ended, and when the session has ended. */
  onQuiet(): void;
}

/** `before` means the session had already ended. */
export type StopResult = "now" | "before" | "unknown";

/** The running work between the start and the end of a session. */
interface SessionLife {
  readonly turns: Set<RunningTurn>;
  readonly commands: Set<AbortController>;
}

interface RunningTurn {
  readonly interrupt: (ending: TurnInterruption) => void;
  /** Set when the journal has recorded the turn. */
  turnNumber?: number;
}

/** A session with its lifecycle, for the session manager. */
export class ManagedSession implements ServiceSession {
  readonly #parts: ManagedSessionOptions;
  readonly #journal: SessionJournal;
  #life: SessionLife = createSessionLife();
  #owner: SessionOwner | undefined;
  #isClosed = false;
  #callOffEnd: () => void = () => {};
  #changing: Promise<unknown> = Promise.resolve();
  /** The number of running and queued changes. */
  #changes = 0;

  constructor(options: ManagedSessionOptions) {
    this.#parts = options;
    this.#journal = options.journal;
  }

  get messages(): readonly Message[] {
    return this.#journal.state.messages;
  }

  get turns(): number {
    return this.#journal.state.turns;
  }

  get note(): JsonValue {
    return this.#journal.state.note;
  }

  get isBusy(): boolean {
    return this.#life.turns.size > 0;
  }

  /** True if there are no running turns, commands or background processes, and no pending writes. */
  get isIdle(): boolean {
    return !this.#isActive && this.#changes === 0 && !this.#parts.workspace.isInUse;
  }

  /** True if the session has ended or never started, and its messages cannot be restored. */
  get isOver(): boolean {
    const { isLive, turns } = this.#journal.state;
    const returns = this.#owner !== undefined && this.#remembers(this.#owner) && turns > 0;
    return !isLive && !returns;
  }

  async startTurn(
    messages: readonly Message[],
    interrupt: RunningTurn["interrupt"],
  ): Promise<OpenTurn> {
    const life = this.#life;
    const running: RunningTurn = { interrupt };
    life.turns.add(running);
    const recording = this.#journal.record(({ turns }) => {
      running.turnNumber = turns;
      return { type: "asked", at: this.#now(), turn: turns, messages };
    });
    const { turn: turnNumber } = await recording.catch((error: unknown) => {
      life.turns.delete(running);
      throw error;
    });
    const finishTurn = async (end: () => SessionRecord): Promise<void> => {
      try {
        await this.#recordIn(life, end);
      } finally {
        life.turns.delete(running);
        this.#quiet();
      }
    };
    return {
      turnNumber,
      finish: (output, note) =>
        finishTurn(() => ({
          type: "answered",
          at: this.#now(),
          turn: turnNumber,
          messages: output,
          note,
        })),
      discard: (note) =>
        finishTurn(() => ({ type: "forgotten", at: this.#now(), turn: turnNumber, note })),
    };
  }

  async touch(): Promise<void> {
    await this.#journal.record(() => ({ type: "used", at: this.#now() }));
  }

  async runCommand(command: SessionCommand): Promise<ShellExit> {
    const life = this.#life;
    const end = new AbortController();
    if (this.#isClosed) end.abort("stopped" satisfies TurnInterruption);
    life.commands.add(end);
    try {
      const exit = await this.#runUntil(end.signal, command);
      if (end.signal.reason === EXPIRED) {
        throw new ConnectionReset("The session has reached its maximum lifetime");
      }
      await this.#recordIn(life, () => ({ type: "used", at: this.#now() }));
      return exit;
    } finally {
      life.commands.delete(end);
      this.#quiet();
    }
  }

  async #runUntil(end: AbortSignal, command: SessionCommand): Promise<ShellExit> {
    const { workspace, clock } = this.#parts;
    if (end.aborted) return KILLED_EXIT;
    const folder = await workspace.openFolder();
    // The session may have ended while the folder was opened. A command started now would never be stopped.
    if (end.aborted) return KILLED_EXIT;
    return runShell({
      ...command,
      folder,
      clock,
      signal: AbortSignal.any([end, command.signal]),
      onStarted: (group) => workspace.addProcessGroup(group),
    });
  }

  /** Starts the session again if it has ended or was never started. */
  revive(owner: SessionOwner, id: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#owner = owner;
      await this.#settleLost();
      const at = this.#now();
      const { state } = this.#journal;
      if (!state.isLive || at >= computeSessionEnd(state, owner.lifecycle, this.#isActive)) {
        await this.#beginAt(at, owner, id);
      }
      this.#watch();
    });
  }

  async #beginAt(at: number, owner: SessionOwner, session: string): Promise<void> {
    this.#endLife();
    await this.#parts.workspace.clear();
    await this.#settleLost();
    const remembers = this.turns > 0 && this.#remembers(owner);
    const { arn } = owner;
    await this.#journal.record(() => ({ type: "started", at, arn, session, remembers }));
  }

  stop(): Promise<StopResult> {
    if (this.#journal.state.isLive) this.#end("stopped");
    return this.#inTurn(async () => {
      const { isLive: live, isKnown } = this.#journal.state;
      if (!live) return isKnown ? "before" : "unknown";
      await this.#stopped();
      return "now";
    });
  }

  /** Cancels the timer. Call only for an idle session whose log is complete. */
  release(): void {
    this.#callOffEnd();
  }

  /** Ends all running work. A session with a log can be resumed by a later process. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#end("stopped");
    await this.#parts.workspace.close();
  }

  get #isActive(): boolean {
    return this.#life.turns.size + this.#life.commands.size > 0;
  }

  #now(): number {
    return this.#parts.clock.now();
  }

  #remembers({ hasMemory }: SessionOwner): boolean {
    return hasMemory && this.#parts.switches.reviveWithMemory === "remember";
  }

  /** Ignores records of an earlier life of the session. */
  async #recordIn(life: SessionLife, entry: () => SessionRecord): Promise<void> {
    if (life === this.#life) await this.#journal.record(entry);
  }

  /** Runs changes one after another: two concurrent starts would start the session twice. */
  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    this.#changes += 1;
    const changed = this.#changing.then(change).finally(() => (this.#changes -= 1));
    this.#changing = changed.catch(() => {});
    return changed;
  }

  /** Settles turns left open by a killed process or a failed write. Their clients have disconnected. */
  async #settleLost(): Promise<void> {
    const { openTurns, usedAt, note } = this.#journal.state;
    const running = new Set([...this.#life.turns].map(({ turnNumber: number }) => number));
    for (const turn of openTurns.keys()) {
      if (running.has(turn)) continue;
      // A lost turn does not extend the idle timeout.
      const end = { at: usedAt, turn, note };
      await this.#journal.record(() =>
        this.#parts.switches.onDisconnect.endsWith("forget")
          ? { type: "forgotten", ...end }
          : { type: "answered", ...end, messages: [] },
      );
    }
  }

  #end(ending: TurnInterruption): void {
    this.#callOffEnd();
    for (const { interrupt } of this.#life.turns) interrupt(ending);
    for (const command of this.#life.commands) command.abort(ending);
  }

  async #stopped(): Promise<void> {
    await this.#parts.workspace.clear();
    await this.#journal.record(() => ({ type: "stopped", at: this.#now() }));
  }

  /** Schedules the end of the session. Checked again when the timer fires, because the session may have been used. */
  #watch(): void {
    this.#callOffEnd();
    const { state } = this.#journal;
    if (this.#owner === undefined || this.#isClosed || !state.isLive) return;
    const wait = computeSessionEnd(state, this.#owner.lifecycle, this.#isActive) - this.#now();
    if (wait > 0) this.#callOffEnd = this.#parts.clock.schedule(wait, () => this.#watch());
    else this.#expire();
  }

  /**
   * Ends this life of the session. Remaining work, such as a brain that ignores its signal, can no longer change the
   * session.
   */
  #endLife(): void {
    this.#end(EXPIRED);
    this.#life = createSessionLife();
  }

  #expire(): void {
    this.#endLife();
    const expired = this.#inTurn(async () => {
      if (this.#journal.state.isLive) await this.#stopped();
    });
    // If the end cannot be written, the session still ends by its times.
    void expired.catch(() => {}).finally(() => this.#parts.onQuiet());
  }

  #quiet(): void {
    this.#watch();
    this.#parts.onQuiet();
  }
}

const EXPIRED = "expired" satisfies TurnInterruption;

/** The exit of a command killed before it started: 128 plus SIGKILL. */
const KILLED_EXIT: ShellExit = { exitCode: 137, status: "COMPLETED" };

function createSessionLife(): SessionLife {
  return { turns: new Set(), commands: new Set() };
}
