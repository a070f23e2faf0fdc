import type { ToolSpec } from "../domain/agent-spec.ts";
import type { ProgressAmount, ToolCallPathsResolved } from "../domain/events/tool-events.ts";
import type { EditorCapabilities } from "../domain/client-tools.ts";
import type { JsonObject } from "../data/json.ts";
import type { PathFact } from "../domain/policy/policy-decision.ts";

/** Something that runs here when the agent calls it. */
export interface Tool {
  readonly spec: ToolSpec;
  /** Says what is wrong with the arguments, for the model; undefined when nothing is. */
  check(input: JsonObject): string | undefined;
  /**
   * Does the work. What it gives back goes to the model: text as text, anything else as JSON. What it throws goes to the
   * model as the error's message alone.
   */
  run(input: JsonObject, context: ToolContext): unknown;
  /** Looks where the paths of a call lead, and what it would change, before it is judged. Changes nothing. */
  readonly examine?: (call: ToolCallToExamine) => Promise<Examination>;
}

export interface ToolCallToExamine {
  readonly name: string;
  readonly input: JsonObject;
  readonly paths: readonly { readonly argument: string; readonly input: string }[];
  /** Where the session works, if it said so. */
  readonly workingDirectory?: string;
  readonly folders?: readonly string[];
  readonly signal: AbortSignal;
  /** As for the tool itself. */
  readonly editor?: ClientEditor;
  readonly host?: ToolContext["host"];
}

export type Examination = Pick<ToolCallPathsResolved, "paths" | "diffs" | "evidence">;

export interface ToolContext {
  readonly sessionId: string;
  readonly toolCallId: string;
  /** The same for every attempt of one call: a service that knows it does the work once. */
  readonly idempotencyKey: string;
  /** More than 1 when the bridge was killed while it ran. */
  readonly attempt: number;
  /** A client's machine is to say what came of the attempts before, and to do nothing where it does not know. */
  readonly isRepeat?: true;
  /** Where the session works, if it said so. */
  readonly workingDirectory?: string;
  /** Folders that belong to its workspace beside that one. */
  readonly folders?: readonly string[];
  /** Where the path arguments led when the call was judged; what is opened has to be there still. */
  readonly paths?: readonly PathFact[];
  /** Aborted at the tool's limit, at a cancel, and when the bridge stops. */
  readonly signal: AbortSignal;
  /** Shown to people while the tool runs. Hosts of the bridge get the numbers too, where there are some. */
  progress(text: string, amount?: ProgressAmount): void;
  /**
   * Starts a program in a process group of its own, which ends with the tool, with the bridge, or, where that was killed,
   * before it starts again.
   */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): Promise<SpawnedProcess>;
  /** Asks a client's machine to do something; rejects when it does not, or not in time. */
  host(
    clientId: string,
    kind: string,
    payload: JsonObject,
    milliseconds?: number,
  ): Promise<JsonObject>;
  /** The editor that the call is for, where one offers something: that of whoever prompted, else the controller's. */
  readonly editor?: ClientEditor;
}

export interface ClientEditor extends EditorCapabilities {
  readonly clientId: string;
}

export interface SpawnOptions {
  readonly workingDirectory?: string;
  readonly environment?: { readonly [name: string]: string };
  readonly input?: string;
}

export interface SpawnedProcess {
  /** As they come; read both. */
  readonly output: AsyncIterable<Uint8Array>;
  readonly errors: AsyncIterable<Uint8Array>;
  /** The program itself is over; what it started in the background may still hold on to its outputs. */
  readonly exited: Promise<ProcessExit>;
  /** It is over, and both outputs are. */
  readonly ended: Promise<ProcessExit>;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}
