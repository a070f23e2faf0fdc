import type { JsonValue } from "../../../data/json.ts";
import type { ReplaySpeed } from "../../recording/recording.ts";
import type { ToolUseKind, ResultPart, ResultStatus, Role } from "../session-message.ts";
import type { FailStep } from "../step.ts";
import type { Amount } from "./scenario-node.ts";

/** A scenario for the script brain: the responses and their conditions. */
export interface Scenario {
  /** The path of the scenario, for error messages and relative paths. */
  readonly file: string;
  readonly seed: string | number;
  /** Characters per delta, and milliseconds before each delta. */
  readonly pace: Pace;
  /** True: the unconditional turns start over after the last. */
  readonly repeat: boolean;
  readonly turns: readonly ScriptTurn[];
}

export interface Pace {
  readonly chunk: Amount;
  readonly delay: Amount;
}

export interface ScriptTurn {
  /** Null for an unconditional turn, which is played in order. */
  readonly when: Condition | null;
  readonly answer: readonly ScriptItem[];
  readonly faults: ScriptFaults;
  readonly refuse: ScriptRefusal | null;
  readonly replay: { readonly file: string; readonly speed: ReplaySpeed } | null;
}

/** All given conditions must match the newest message. */
export interface Condition {
  /** A part of the text, ignoring case. */
  readonly prompt: string | null;
  readonly pattern: RegExp | null;
  readonly result: ResultCondition | null;
}

export interface ResultCondition {
  readonly tool: string | null;
  readonly status: ResultStatus | null;
  readonly text: string | null;
}

export interface ScriptRefusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly members: { readonly [name: string]: JsonValue };
}

export type ScriptItem =
  | {
      readonly type: "text";
      readonly text: string;
      /** Overrides the pace of the scenario. */
      readonly pace: Partial<Pace>;
    }
  | {
      readonly type: "reasoning";
      readonly text: string;
      readonly signature: string | null;
      /** Overrides the pace of the scenario. */
      readonly pace: Partial<Pace>;
    }
  | { readonly type: "redacted"; readonly base64: string }
  | { readonly type: "call"; readonly call: ScriptCall }
  | { readonly type: "servers"; readonly tools: readonly ServerTool[] }
  | {
      readonly type: "hook";
      readonly point: string;
      readonly name: string;
      readonly decision: string | null;
      readonly reason: string | null;
    }
  | { readonly type: "pause"; readonly milliseconds: Amount }
  | { readonly type: "usage"; readonly usage: ScriptUsage }
  | { readonly type: "no-usage" }
  | { readonly type: "start"; readonly role: Role }
  | { readonly type: "close" }
  | { readonly type: "stop"; readonly reason: string }
  | { readonly type: "event"; readonly name: string; readonly payload: JsonValue }
  | { readonly type: "bytes"; readonly bytes: Uint8Array }
  | { readonly type: "fail"; readonly failure: FailStep };

export interface ScriptCall {
  readonly name: string;
  readonly id: string | null;
  /** JSON text, which may be invalid on purpose. */
  readonly input: string;
  readonly kind: ToolUseKind | null;
  readonly serverName: string | null;
}

export interface ServerTool {
  readonly call: ScriptCall;
  readonly status: ResultStatus;
  readonly parts: readonly ResultPart[];
  /** JSON text. */
  readonly metadata: string | null;
}

export interface ScriptUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number | null;
  readonly cacheWrite: number | null;
  readonly latency: number;
}

/** Like `Faults`, with amounts which the seed may pick from a range. */
export interface ScriptFaults {
  readonly drip: { readonly bytes: Amount; readonly milliseconds: Amount } | null;
  readonly silenceAfter: Amount | null;
  readonly resetAtByte: Amount | null;
  readonly flipFrame: Amount | null;
  readonly truncate: { readonly frame: Amount; readonly bytes: Amount } | null;
  readonly exception: { readonly frame: Amount; readonly failure: FailStep } | null;
  readonly error: {
    readonly frame: Amount;
    readonly code: string;
    readonly message: string | null;
  } | null;
  readonly prefix: { readonly frame: Amount; readonly length: number } | null;
  readonly untypedFrame: Amount | null;
  readonly reuseIndex: boolean;
  readonly omit: readonly string[];
  readonly padding: Amount | null;
  readonly contentType: string | null;
}
