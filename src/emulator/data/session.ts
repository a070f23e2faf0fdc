import type { JsonValue } from "../../domain/json.ts";
import type { Message } from "../brains/message.ts";
import type { Lifecycle } from "../control/registry.ts";
import type { ShellCommand, ShellExit } from "./shell.ts";
import type { Ending } from "./speak.ts";

/** Whose session it is and how long such a one lives. */
export interface SessionOwner {
  readonly arn: string;
  readonly lifecycle: Lifecycle;
  readonly hasMemory: boolean;
}

export interface Session {
  readonly messages: readonly Message[];
  readonly turns: number;
  readonly note: JsonValue;
  /** Whether a turn is under way. */
  readonly busy: boolean;
  ask(messages: readonly Message[], cut: (ending: Ending) => void): Promise<OpenTurn>;
  /** Puts off the idle timeout. */
  use(): Promise<void>;
  /** Runs a command in the session's folder. What it leaves in the background ends with the session. */
  run(command: SessionCommand): Promise<ShellExit>;
}

/** A turn that is asked for and neither answered nor forgotten yet. */
export interface OpenTurn {
  /** Counted from 0. */
  readonly turn: number;
  answered(messages: readonly Message[], note: JsonValue): Promise<void>;
  forgotten(note: JsonValue): Promise<void>;
}

export type SessionCommand = Omit<ShellCommand, "folder" | "clock" | "started">;
