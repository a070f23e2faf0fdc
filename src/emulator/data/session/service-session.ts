import type { JsonValue } from "../../../data/json.ts";
import type { Message } from "../../brains/session-message.ts";
import type { Lifecycle } from "../../control/harness-registry.ts";
import { ServiceError } from "../../service/service-types.ts";
import type { Switches } from "../../switches.ts";
import type { TurnInterruption } from "../turn/run-brain.ts";
import type { ShellCommand, ShellExit } from "./run-shell.ts";

/** The agent of a session and the lifetime of its sessions. */
export interface SessionOwner {
  readonly arn: string;
  readonly lifecycle: Lifecycle;
  readonly hasMemory: boolean;
}

export interface ServiceSession {
  readonly messages: readonly Message[];
  readonly turns: number;
  readonly note: JsonValue;
  /** True while a turn is running. */
  readonly isBusy: boolean;
  startTurn(
    messages: readonly Message[],
    interrupt: (ending: TurnInterruption) => void,
  ): Promise<OpenTurn>;
  /** Restarts the idle timeout. */
  touch(): Promise<void>;
  /** Runs a command in the session's folder. Its background processes end with the session. */
  runCommand(command: SessionCommand): Promise<ShellExit>;
}

/** A turn that is neither finished nor discarded. */
export interface OpenTurn {
  /** Counted from 0. */
  readonly turnNumber: number;
  finish(messages: readonly Message[], note: JsonValue): Promise<void>;
  discard(note: JsonValue): Promise<void>;
}

export type SessionCommand = Omit<ShellCommand, "folder" | "clock" | "onStarted">;

/** Throws if a turn is running and the switches do not allow a second one. */
export function checkOverlap(session: ServiceSession, switches: Switches): void {
  if (!session.isBusy || switches.overlapping === "interleave") return;
  const message = "The session already has a running invocation. Fix: wait until it has ended";
  throw new ServiceError(409, "ConflictException", message);
}
