import type { ToolFacts } from "../domain/agent-event.ts";
import type { JsonObject } from "../domain/json.ts";

/** Something that runs here when the agent calls it. */
export interface Tool {
  readonly facts: ToolFacts;
  /** Says what is wrong with the arguments, for the model; undefined when nothing is. */
  check(input: JsonObject): string | undefined;
  /**
   * Does the work. What it gives back goes to the model: text as text, anything else as JSON. What it throws goes to the
   * model as the error's message alone.
   */
  run(input: JsonObject, context: ToolContext): unknown;
}

export interface ToolContext {
  readonly sessionId: string;
  readonly toolCallId: string;
  /** The same for every attempt of one call: a service that knows it does the work once. */
  readonly idempotencyKey: string;
  /** More than 1 when the bridge was killed while it ran. */
  readonly attempt: number;
  /** Where the session works, if it said so. */
  readonly workingDirectory?: string;
  /** Aborted at the tool's limit, at a cancel, and when the bridge stops. */
  readonly signal: AbortSignal;
  /** Shown to people while the tool runs. */
  progress(text: string): void;
  /**
   * Starts a program in a process group of its own, which ends with the tool, with the bridge, or, where that was killed,
   * before it starts again.
   */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): Promise<Spawned>;
  /** Asks a client's machine to do something; rejects when it does not. */
  host(clientId: string, kind: string, payload: JsonObject): Promise<JsonObject>;
}

export interface SpawnOptions {
  readonly workingDirectory?: string;
  readonly environment?: { readonly [name: string]: string };
  readonly input?: string;
}

export interface Spawned {
  /** As they come; read both. */
  readonly output: AsyncIterable<Uint8Array>;
  readonly errors: AsyncIterable<Uint8Array>;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}
