import type { JsonValue } from "../../../data/json.ts";
import type { Message } from "../../brains/session-message.ts";
import type { Lifecycle } from "../../control/harness-registry.ts";
import type { ShellCommand, ShellExit } from "./run-shell.ts";
import type { TurnInterruption } from "../turn/run-brain.ts";

/** Whose session it is and how long such a one lives. */
export interface SessionOwner {
  readonly arn: string;
  readonly lifecycle: Lifecycle;
  readonly hasMemory: boolean;
}

export interface ServiceSession {
  readonly messages: readonly Message[];
  readonly turns: number;
  readonly note: JsonValue;
  /** Whether a turn is under way. */
  readonly isBusy: boolean;
  startTurn(
    messages: readonly Message[],
    interrupt: (ending: TurnInterruption) => void,
  ): Promise<OpenTurn>;
  /** Puts off the idle timeout. */
  touch(): Promise<void>;
  /** Runs a command in the session's folder. What it leaves in the background ends with the session. */
  runCommand(command: SessionCommand): Promise<ShellExit>;
}

/** A turn that is asked for and neither answered nor forgotten yet. */
export interface OpenTurn {
  /** Counted from 0. */
  readonly turnNumber: number;
  finish(messages: readonly Message[], note: JsonValue): Promise<void>;
  discard(note: JsonValue): Promise<void>;
}

export type SessionCommand = Omit<ShellCommand, "folder" | "clock" | "onStarted">;
