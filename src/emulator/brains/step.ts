import type { JsonValue } from "../../data/json.ts";
import type { ToolUseKind, ResultPart, ResultStatus, Role } from "./session-message.ts";

/**
 * One step of what a model and its loop say. A step that continues the block at hand goes into it; any other closes it.
 * Blocks get their numbers, and messages their place in the session, from the engine.
 */
export type Step =
  | { readonly type: "start"; readonly role: Role }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "signature"; readonly signature: string }
  | { readonly type: "redacted"; readonly base64: string }
  | CallStep
  /** A fragment of the JSON text of a call's arguments. */
  | { readonly type: "input"; readonly fragment: string }
  | { readonly type: "result"; readonly id: string; readonly status: ResultStatus }
  | { readonly type: "output"; readonly parts: readonly ResultPart[] }
  /** A fragment of the JSON text that describes a result. */
  | { readonly type: "output-metadata"; readonly fragment: string }
  | { readonly type: "close" }
  | { readonly type: "stop"; readonly reason: string }
  | UsageStep
  | HookStep
  | { readonly type: "pause"; readonly milliseconds: number }
  /** A member of the stream as it is, known or not. */
  | { readonly type: "event"; readonly name: string; readonly payload: JsonValue }
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  | FailStep;

export interface CallStep {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  /** Null leaves it out of the stream, as older services do. */
  readonly kind: ToolUseKind | null;
  readonly serverName?: string;
}

export interface UsageStep {
  readonly type: "usage";
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly latencyMilliseconds: number;
}

export interface HookStep {
  readonly type: "hook";
  readonly id: string;
  readonly name: string;
  readonly point: string;
  readonly decision?: string;
  readonly reason?: string;
}

/** The end of a turn that failed, in whatever way the stream at hand says so. */
export interface FailStep {
  readonly type: "fail";
  readonly exception: string;
  readonly message: string;
  /** Members of the payload beside the message. */
  readonly members?: { readonly [name: string]: JsonValue };
}
