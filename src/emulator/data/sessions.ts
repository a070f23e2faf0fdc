import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonValue } from "../../domain/json.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Message } from "../brains/message.ts";
import type { Lifecycle } from "../control/registry.ts";
import type { Switches } from "../switches.ts";
import {
  fileLog,
  forgetfulLog,
  sessionPath,
  type SessionLog,
  type SessionRecord,
} from "./session-log.ts";
import { afterRecord, NO_SESSION, type SessionState } from "./session.ts";
import type { Ending } from "./speak.ts";

/** Whose session it is and how long such a one lives. */
export interface SessionOwner {
  readonly arn: string;
  readonly lifecycle: Lifecycle;
  readonly hasMemory: boolean;
}

export interface Sessions {
  /** The session as it stands. One that ended, or that nobody started, begins here. */
  enter(owner: SessionOwner, id: string): Promise<Session>;
  stop(arn: string, id: string): Promise<Stopped>;
  /** Ends what runs, and throws away the folders that only lasted as long as the process. */
  close(): Promise<void>;
}

/** `before`: it had ended already. */
export type Stopped = "now" | "before" | "unknown";

export interface Session {
  readonly messages: readonly Message[];
  readonly turns: number;
  readonly note: JsonValue;
  /** Whether a turn is under way. */
  readonly busy: boolean;
  ask(messages: readonly Message[], cut: (ending: Ending) => void): Promise<OpenTurn>;
  /** The folder that commands of this session run in; it goes when the session does. */
  workspace(): Promise<string>;
  /** Puts off the idle timeout. */
  use(): Promise<void>;
  /** Has something that runs in the session ended with it. Gives back how to call that off. */
  endWith(end: () => void): () => void;
}

/** A turn that is asked for and neither answered nor forgotten yet. */
export interface OpenTurn {
  /** Counted from 0. */
  readonly turn: number;
  answered(messages: readonly Message[], note: JsonValue): Promise<void>;
  forgotten(note: JsonValue): Promise<void>;
}

export interface SessionsOptions {
  readonly clock: Clock;
  readonly switches: Switches;
  /** Absent: sessions last as long as the process. */
  readonly dataDirectory?: string;
}

export function sessions({ clock, switches, dataDirectory }: SessionsOptions): Sessions {
  const held = new Map<string, Promise<Held>>();
  const temporary: string[] = [];
  const temporaryFolder = async (): Promise<string> => {
    const folder = await mkdtemp(join(tmpdir(), "spanline-session-"));
    temporary.push(folder);
    return folder;
  };
  const hold = (arn: string, id: string): Promise<Held> => {
    const key = `${arn}\n${id}`;
    const there = held.get(key);
    if (there !== undefined) return there;
    const kept = (folder: string): string =>
      dataDirectory === undefined ? "" : sessionPath(join(dataDirectory, folder), arn, id);
    const made = load({
      clock,
      switches,
      temporaryFolder,
      ...(dataDirectory === undefined
        ? { log: forgetfulLog }
        : { log: fileLog(`${kept("sessions")}.jsonl`), folder: kept("workspaces") }),
    });
    held.set(key, made);
    // Whoever asks again finds it repaired, or is told again.
    made.catch(() => held.delete(key));
    return made;
  };
  return {
    async enter(owner, id) {
      const session = await hold(owner.arn, id);
      await session.revive(owner, id);
      return session;
    },
    async stop(arn, id) {
      const session = await hold(arn, id);
      return session.stop();
    },
    async close() {
      for (const session of await Promise.allSettled(held.values())) {
        if (session.status === "fulfilled") session.value.close();
      }
      await Promise.all(
        temporary.splice(0).map((folder) => rm(folder, { recursive: true, force: true })),
      );
    },
  };
}

interface Held extends Session {
  revive(owner: SessionOwner, id: string): Promise<void>;
  stop(): Promise<Stopped>;
  /** Ends everything that runs in it. */
  close(): void;
}

interface HeldOptions {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly switches: Switches;
  /** Where commands run; absent where nothing outlasts the process. */
  readonly folder?: string;
  readonly temporaryFolder: () => Promise<string>;
}

async function load(options: HeldOptions): Promise<Held> {
  const { log, clock, switches } = options;
  let state: SessionState = (await log.read()).reduce(afterRecord, NO_SESSION);
  let { folder } = options;
  const running = new Set<(ending: Ending) => void>();
  /** Turns that are in the log and still run. */
  const open = new Set<number>();
  const ends = new Set<() => void>();
  /** One at a time: two that begin a session at once would begin it twice. */
  let reviving: Promise<void> = Promise.resolve();
  const endAll = (): void => {
    for (const cut of running) cut("stopped");
    for (const end of ends) end();
  };
  let recording: Promise<unknown> = Promise.resolve();
  /** One after another, and what the log does not hold has not happened. */
  const record = <Entry extends SessionRecord>(
    entryAfter: (before: SessionState) => Entry,
  ): Promise<Entry> => {
    const recorded = recording.then(async () => {
      const entry = entryAfter(state);
      await log.append(entry);
      state = afterRecord(state, entry);
      return entry;
    });
    recording = recorded.catch(() => {});
    return recorded;
  };
  const settle = async (turn: number, messages: readonly Message[], note: JsonValue) =>
    record(() => ({ type: "answered", at: clock.now(), turn, messages, note }));
  const forget = async (turn: number, note: JsonValue) =>
    record(() => ({ type: "forgotten", at: clock.now(), turn, note }));
  // A turn that a killed process left behind, or whose end could not be written, has lost its client too.
  const settleLost = async (): Promise<void> => {
    for (const turn of state.asked.keys()) {
      if (open.has(turn)) continue;
      // Nobody used the session by it.
      const end = { at: state.usedAt, turn, note: state.note };
      if (switches.onDisconnect.endsWith("forget")) {
        await record(() => ({ type: "forgotten", ...end }));
      } else await record(() => ({ type: "answered", ...end, messages: [] }));
    }
  };
  await settleLost();
  return {
    get messages() {
      return state.messages;
    },
    get turns() {
      return state.turns;
    },
    get note() {
      return state.note;
    },
    get busy() {
      return running.size > 0;
    },
    async ask(messages, cut) {
      running.add(cut);
      const { turn } = await record(({ turns }) => {
        open.add(turns);
        return { type: "asked", at: clock.now(), turn: turns, messages };
      }).catch((error: unknown) => {
        running.delete(cut);
        throw error;
      });
      const over = async (end: Promise<unknown>): Promise<void> => {
        await end.finally(() => {
          running.delete(cut);
          open.delete(turn);
        });
      };
      return {
        turn,
        answered: (said, note) => over(settle(turn, said, note)),
        forgotten: (note) => over(forget(turn, note)),
      };
    },
    async workspace() {
      folder ??= await options.temporaryFolder();
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    endWith(end) {
      ends.add(end);
      return () => ends.delete(end);
    },
    close: endAll,
    async use() {
      await record(() => ({ type: "used", at: clock.now() }));
    },
    revive(owner, session) {
      const revived = reviving.then(() => revive(owner, session));
      reviving = revived.catch(() => {});
      return revived;
    },
    async stop() {
      if (!state.live) return state.known ? "before" : "unknown";
      endAll();
      await record(() => ({ type: "stopped", at: clock.now() }));
      return "now";
    },
  };

  async function revive(
    { arn, lifecycle, hasMemory }: SessionOwner,
    session: string,
  ): Promise<void> {
    await settleLost();
    const at = clock.now();
    if (running.size > 0 || isLive(state, lifecycle, at)) return;
    const remembers = state.turns > 0 && hasMemory && switches.reviveWithMemory === "remember";
    if (state.known && folder !== undefined) await rm(folder, { recursive: true, force: true });
    await record(() => ({ type: "started", at, arn, session, remembers }));
  }
}

function isLive(state: SessionState, { idleSeconds, lifetimeSeconds }: Lifecycle, at: number) {
  return (
    state.live &&
    at - state.usedAt < idleSeconds * 1000 &&
    at - state.startedAt < lifetimeSeconds * 1000
  );
}
