import type { JsonValue } from "../../../data/json.ts";
import type { Message } from "../../brains/session-message.ts";
import type { Lifecycle } from "../../control/harness-registry.ts";
import { ServiceError } from "../../service/service-types.ts";
import type { Switches } from "../../switches.ts";
import type { TurnInterruption } from "../turn/run-brain.ts";
import type { ShellCommand, ShellExit } from "./run-shell.ts";

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

/** Throws when the session has a turn under way and the switches want one at a time. */
export function checkOverlap(session: ServiceSession, switches: Switches): void {
  if (!session.isBusy || switches.overlapping === "interleave") return;
  const message = "The session has an invocation under way; wait for it to end";
  throw new ServiceError(409, "ConflictException", message);
}
