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
  /** Told whenever something that ran in the session has ended, and when the session itself has. */
  onQuiet(): void;
}

/** `before`: it had ended already. */
export type StopResult = "now" | "before" | "unknown";

/** What runs between the start of a session and its end. */
interface SessionLife {
  readonly turns: Set<RunningTurn>;
  readonly commands: Set<AbortController>;
}

interface RunningTurn {
  readonly interrupt: (ending: TurnInterruption) => void;
  /** Once the journal has it. */
  turnNumber?: number;
}

/** A session as those who keep it see it. */
export class ManagedSession implements ServiceSession {
  readonly #parts: ManagedSessionOptions;
  readonly #journal: SessionJournal;
  #life: SessionLife = createSessionLife();
  #owner: SessionOwner | undefined;
  #isClosed = false;
  #callOffEnd: () => void = () => {};
  #changing: Promise<unknown> = Promise.resolve();
  /** That are under way, or wait to be. */
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

  /** Whether nothing runs in it, not even in the background, and nothing is about to be written. */
  get isIdle(): boolean {
    return !this.#isActive && this.#changes === 0 && !this.#parts.workspace.isInUse;
  }

  /** Whether it has ended, or never began, and nothing of it can come back. */
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
        throw new ConnectionReset("The lifetime of the session is over");
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
    // What begins now would not be ended a second time.
    if (end.aborted) return KILLED_EXIT;
    return runShell({
      ...command,
      folder,
      clock,
      signal: AbortSignal.any([end, command.signal]),
      onStarted: (group) => workspace.addProcessGroup(group),
    });
  }

  /** Begins the session anew where it has ended, or where nobody has started it. */
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

  /** For a session that is idle and whose log has all of it. */
  release(): void {
    this.#callOffEnd();
  }

  /** Ends everything that runs in it. The session itself goes on where there is a log. */
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

  /** What comes from an earlier life is no part of this one. */
  async #recordIn(life: SessionLife, entry: () => SessionRecord): Promise<void> {
    if (life === this.#life) await this.#journal.record(entry);
  }

  /** One at a time: two that begin a session at once would begin it twice. */
  #inTurn<Result>(change: () => Promise<Result>): Promise<Result> {
    this.#changes += 1;
    const changed = this.#changing.then(change).finally(() => (this.#changes -= 1));
    this.#changing = changed.catch(() => {});
    return changed;
  }

  /** A turn that a killed process left behind, or whose end could not be written, has lost its client too. */
  async #settleLost(): Promise<void> {
    const { openTurns, usedAt, note } = this.#journal.state;
    const running = new Set([...this.#life.turns].map(({ turnNumber: number }) => number));
    for (const turn of openTurns.keys()) {
      if (running.has(turn)) continue;
      // Nobody used the session by it.
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

  /** Waits for the time at which the session ends; it may be used meanwhile. */
  #watch(): void {
    this.#callOffEnd();
    const { state } = this.#journal;
    if (this.#owner === undefined || this.#isClosed || !state.isLive) return;
    const wait = computeSessionEnd(state, this.#owner.lifecycle, this.#isActive) - this.#now();
    if (wait > 0) this.#callOffEnd = this.#parts.clock.schedule(wait, () => this.#watch());
    else this.#expire();
  }

  /** What may be left of it, such as a brain that does not listen, can do no more to the session. */
  #endLife(): void {
    this.#end(EXPIRED);
    this.#life = createSessionLife();
  }

  #expire(): void {
    this.#endLife();
    const expired = this.#inTurn(async () => {
      if (this.#journal.state.isLive) await this.#stopped();
    });
    // Where the end cannot be written, the times of the session tell it too.
    void expired.catch(() => {}).finally(() => this.#parts.onQuiet());
  }

  #quiet(): void {
    this.#watch();
    this.#parts.onQuiet();
  }
}

const EXPIRED = "expired" satisfies TurnInterruption;

/** What a shell says of a command that was killed before it ran. */
const KILLED_EXIT: ShellExit = { exitCode: 137, status: "COMPLETED" };

function createSessionLife(): SessionLife {
  return { turns: new Set(), commands: new Set() };
}
