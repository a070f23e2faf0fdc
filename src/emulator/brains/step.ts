import type { JsonValue } from "../../data/json.ts";
import type { ToolUseKind, ResultPart, ResultStatus, Role } from "./session-message.ts";

/**
 * A step in the output of a model and its loop. A step that continues the open block is added to it; any other step
 * closes the block. The engine assigns the numbers of blocks and messages.
 */
export type Step =
  | { readonly type: "start"; readonly role: Role }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "signature"; readonly signature: string }
  | { readonly type: "redacted"; readonly base64: string }
  | CallStep
  /** A fragment of the JSON text of tool arguments. */
  | { readonly type: "input"; readonly fragment: string }
  | { readonly type: "result"; readonly id: string; readonly status: ResultStatus }
  | { readonly type: "output"; readonly parts: readonly ResultPart[] }
  /** A fragment of the JSON text of result metadata. */
  | { readonly type: "output-metadata"; readonly fragment: string }
  | { readonly type: "close" }
  | { readonly type: "stop"; readonly reason: string }
  | UsageStep
  | HookStep
  | { readonly type: "pause"; readonly milliseconds: number }
  /** A raw event of the stream, of a known or unknown type. */
  | { readonly type: "event"; readonly name: string; readonly payload: JsonValue }
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  | FailStep;

export interface CallStep {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  /** Null omits the kind, like older versions of the service. */
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

/** Ends a turn with a failure. The encoder of each protocol decides its wire format. */
export interface FailStep {
  readonly type: "fail";
  readonly exception: string;
  readonly message: string;
  /** Additional members of the payload. */
  readonly members?: { readonly [name: string]: JsonValue };
}
