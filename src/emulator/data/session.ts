import type { JsonValue } from "../../domain/json.ts";
import type { Message } from "../brains/message.ts";
import type { Lifecycle } from "../control/registry.ts";
import type { ShellCommand, ShellExit } from "./shell.ts";
import type { TurnInterruption } from "./speak.ts";

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
