import type { ProcessGroup, ToolEnding } from "../../domain/agent-event.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { ToolCall, ToolResult } from "../../domain/tool.ts";

export interface ToolsState {
  /** The calls of the turn that runs, in the order they were first seen. */
  readonly runs: readonly ToolRun[];
  /** Programs that may still run. They outlive their turn here: a cancel is in the log before they are ended. */
  readonly programs: readonly SpawnedProgram[];
}

export interface SpawnedProgram {
  readonly toolCallId: string;
  readonly group: ProcessGroup;
}

/**
 * - `announced`: its arguments are still coming.
 * - `called`: nothing was decided about it.
 * - `asking`: an approver is asked.
 * - `granted`: it may run, and waits for its place.
 * - `running`: its start is in the log; the effect may have begun.
 * - `unsettled`: it was running when the bridge was killed, and an approver is asked what came of it.
 */
export type ToolStatus =
  | "announced"
  | "called"
  | "asking"
  | "granted"
  | "running"
  | "unsettled"
  | "finished";

export interface ToolRun {
  readonly toolCallId: string;
  readonly name: string;
  readonly status: ToolStatus;
  /** Null while it is only announced. */
  readonly call: ToolCall | null;
  readonly problem?: string;
  /** What it runs with: the approver may have changed it. */
  readonly input: JsonObject | null;
  readonly approvalId?: string;
  /** 0 before the first. */
  readonly attempt: number;
  readonly ending?: ToolEnding;
  readonly result?: ToolResult;
}

export const initialTools: ToolsState = { runs: [], programs: [] };

export function isSameGroup(one: ProcessGroup, other: ProcessGroup): boolean {
  return one.id === other.id && one.born === other.born;
}

export function runOf(tools: ToolsState, toolCallId: string): ToolRun | undefined {
  return tools.runs.find((run) => run.toolCallId === toolCallId);
}

export function isOpen(run: ToolRun): boolean {
  return run.status !== "finished";
}

/** It needs one of the calls that the turn may start. */
export function isNeverStarted({ status, attempt }: ToolRun): boolean {
  return attempt === 0 && (status === "called" || status === "asking" || status === "granted");
}
