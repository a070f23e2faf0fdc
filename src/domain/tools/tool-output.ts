import type { JsonObject } from "../../data/json.ts";
import type { PlanEntry } from "../plan.ts";

/** What a tool gives back that has more to say than the model is to read. */
export interface ToolOutput {
  /** For the model. */
  readonly text: string;
  /** The same for programs. */
  readonly data?: JsonObject;
  /** What became of files, for people. */
  readonly diffs?: readonly FileDiff[];
  /** Where the tool looked or wrote, for an editor that follows. */
  readonly locations?: readonly FileLocation[];
  /** What has to be known of each file that was changed to change it back. */
  readonly undo?: readonly FileChange[];
  /** What the agent means to do from now on: the session tells everybody. */
  readonly plan?: readonly PlanEntry[];
}

export type ToolAttachments = Omit<ToolOutput, "text" | "plan">;

export interface FileDiff {
  /** From the workspace, with `/`. */
  readonly path: string;
  /** Null where there was no file. */
  readonly oldText: string | null;
  readonly newText: string;
}

/** Whether a log should carry it: everybody who follows the session gets it, again and again. */
export function isShortDiff({ oldText, newText }: FileDiff): boolean {
  return (oldText?.length ?? 0) + newText.length <= MAX_LOGGED_LENGTH;
}

/** In characters, of one thing that a tool says beside its text. */
export const MAX_LOGGED_LENGTH = 256 * 1024;

export interface FileLocation {
  readonly path: string;
  /** Counted from 1. */
  readonly line?: number;
}

/** One file before and after, without its text. */
export interface FileChange {
  readonly path: string;
  readonly existed: boolean;
  /** Null where there was no file. */
  readonly sha256Before: string | null;
  readonly sha256After: string;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/** Whoever does not know this kind of output sees its text alone. */
export function createToolOutput(output: ToolOutput): ToolOutput {
  return Object.defineProperties({ ...output }, { [MARK]: { value: true }, toJSON });
}

export function isToolOutput(value: unknown): value is ToolOutput {
  return typeof value === "object" && value !== null && MARK in value;
}

/** Shared by every copy of this package in a process: a file of tools may have loaded its own. */
const MARK = Symbol.for("spanline.tool-output");

const toJSON = {
  value(this: ToolOutput): string {
    return this.text;
  },
};
