import type { JsonObject } from "../../data/json.ts";
import type { ArtifactRequest, StoredArtifact } from "../outputs/artifact.ts";
import type { HandoffRequest } from "../outputs/handoff.ts";
import type { HarnPlanContent } from "../outputs/harn-plan.ts";
import type { PlanEntry } from "../outputs/plan.ts";
import type { WatchRequest } from "../outputs/file-watch.ts";
import type { LogReport, ProgressReport } from "../outputs/progress-report.ts";

/** A tool's return value with content for others than the model. */
export interface ToolOutput {
  /** For the model. */
  readonly text: string;
  /** The result for programs. */
  readonly data?: JsonObject;
  /** File changes, for display. The model does not receive them. */
  readonly diffs?: readonly FileDiff[];
  /** Files the tool read or wrote, for an editor following along. */
  readonly locations?: readonly FileLocation[];
  /** Facts needed to undo each file change. */
  readonly undo?: readonly FileChange[];
  /** The agent's new plan, sent to every client. */
  readonly plan?: readonly PlanEntry[];
  /** Emitted in the session together with the end of the tool call. Invalid emissions fail the call. */
  readonly emissions?: readonly ToolEmission[];
}

export type ToolAttachments = Omit<ToolOutput, "text" | "plan" | "emissions">;

/** A result of a tool for people and programs, which becomes an event of the session. */
export type ToolEmission =
  | { readonly type: "handoff"; readonly handoff: HandoffRequest }
  | { readonly type: "artifact"; readonly artifact: ArtifactRequest }
  | { readonly type: "plan"; readonly plan: HarnPlanContent }
  | { readonly type: "progress"; readonly progress: ProgressReport }
  | { readonly type: "log"; readonly log: LogReport }
  | { readonly type: "watch"; readonly subscriptionId: string; readonly watch: WatchRequest }
  | { readonly type: "unwatch"; readonly subscriptionId: string };

/** An emission whose artifact is stored. */
export type StoredEmission =
  | Exclude<ToolEmission, { readonly type: "artifact" }>
  | { readonly type: "artifact"; readonly artifact: StoredArtifact };

export interface FileDiff {
  /** Relative to the workspace, with `/`. */
  readonly path: string;
  /** Null if the file did not exist. */
  readonly oldText: string | null;
  readonly newText: string;
}

/** Whether a diff is short enough for the log: every client receives it, again with each replay. */
export function isShortDiff({ oldText, newText }: FileDiff): boolean {
  return (oldText?.length ?? 0) + newText.length <= MAX_LOGGED_LENGTH;
}

/** Characters per attachment of a tool result. */
export const MAX_LOGGED_LENGTH = 256 * 1024;

export interface FileLocation {
  readonly path: string;
  /** Starts at 1. */
  readonly line?: number;
}

/** A file before and after a change, without its content. */
export interface FileChange {
  readonly path: string;
  readonly existed: boolean;
  /** Null if the file did not exist. */
  readonly sha256Before: string | null;
  readonly sha256After: string;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** Marks a value as tool output. Code without support for tool output serializes it as its text. */
export function createToolOutput(output: ToolOutput): ToolOutput {
  return Object.defineProperties({ ...output }, { [MARK]: { value: true }, toJSON });
}

export function isToolOutput(value: unknown): value is ToolOutput {
  return typeof value === "object" && value !== null && MARK in value;
}

/** Shared by every copy of this package in a process: a tool file may have loaded its own copy. */
const MARK = Symbol.for("spanline.tool-output");

const toJSON = {
  value(this: ToolOutput): string {
    return this.text;
  },
};
