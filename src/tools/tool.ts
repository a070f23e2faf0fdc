import type { ToolSpec } from "../domain/agent-spec.ts";
import type { ProgressAmount, ToolCallPathsResolved } from "../domain/events/tool-events.ts";
import type { EditorCapabilities } from "../domain/client-tools.ts";
import type { JsonObject } from "../data/json.ts";
import type { PathFact } from "../domain/policy/policy-decision.ts";

/**
 * A tool which runs in this process when the agent calls it. `defineTool` creates one from a definition.
 *
 * ```ts
 * const tool: Tool = {
 *   spec: { name: "ping", description: "Returns pong", schema: { type: "object" }, idempotent: true, timeoutMs: 1000 },
 *   check: () => undefined,
 *   run: () => "pong",
 * };
 * ```
 */
export interface Tool {
  readonly spec: ToolSpec;
  /** Returns the problems of the arguments, for the model; undefined if they are valid. */
  check(input: JsonObject): string | undefined;
  /**
   * Runs the tool. The returned value goes to the model: a string as text, any other value as JSON. A thrown error goes
   * to the model as its message only.
   */
  run(input: JsonObject, context: ToolContext): unknown;
  /**
   * Resolves the paths of a tool call and previews its changes, before the policy is evaluated. Must not change
   * anything. Undefined if the tool works with no paths.
   */
  readonly examine?: (call: ToolCallToExamine) => Promise<Examination>;
}

export interface ToolCallToExamine {
  readonly name: string;
  readonly input: JsonObject;
  readonly paths: readonly { readonly argument: string; readonly input: string }[];
  /** The working directory of the session. Undefined if the client named none. */
  readonly workingDirectory?: string;
  readonly folders?: readonly string[];
  readonly signal: AbortSignal;
  /** Same as in `ToolContext`. */
  readonly editor?: ClientEditor;
  readonly host?: ToolContext["host"];
}

export type Examination = Pick<ToolCallPathsResolved, "paths" | "diffs" | "evidence">;

export interface ToolContext {
  readonly sessionId: string;
  readonly toolCallId: string;
  /** The same for every attempt of a tool call, so that a service can deduplicate. */
  readonly idempotencyKey: string;
  /** Starts at 1. Higher if the bridge was killed during an earlier attempt. */
  readonly attempt: number;
  /**
   * Set for a host tool after an interrupted attempt: the client must return the earlier outcome if it has one, and
   * must not run the tool again.
   */
  readonly isRepeat?: true;
  /** The working directory of the session. Undefined if the client named none. */
  readonly workingDirectory?: string;
  /** Further workspace folders of the session. */
  readonly folders?: readonly string[];
  /** Resolved path arguments from the policy evaluation. A file to be opened must still be at its resolved location. */
  readonly paths?: readonly PathFact[];
  /** Aborts at the tool's timeout, on cancel, and when the bridge stops. */
  readonly signal: AbortSignal;
  /** Shown to people while the tool runs. Bridge hosts also receive `amount`, if present. */
  progress(text: string, amount?: ProgressAmount): void;
  /**
   * Starts a program in a new process group. The group is terminated with the tool or with the bridge. If the bridge
   * was killed, the group is terminated before the bridge resumes the session.
   */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): Promise<SpawnedProcess>;
  /** Sends a request to a client's machine. Rejects if the client refuses or does not reply in time. */
  host(
    clientId: string,
    kind: string,
    payload: JsonObject,
    milliseconds?: number,
  ): Promise<JsonObject>;
  /** The editor of the prompt's sender, or else of the controller. Undefined if neither offers editor capabilities. */
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
  /** Chunks as they arrive. Read `output` and `errors`: a program whose pipe is full stops at its next write. */
  readonly output: AsyncIterable<Uint8Array>;
  readonly errors: AsyncIterable<Uint8Array>;
  /** Resolves when the program itself has exited. Background processes may still hold its outputs open. */
  readonly exited: Promise<ProcessExit>;
  /** Resolves when the program has exited and both outputs are closed. */
  readonly ended: Promise<ProcessExit>;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}
