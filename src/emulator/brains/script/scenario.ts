import type { JsonValue } from "../../../data/json.ts";
import type { ReplaySpeed } from "../../recording/recording.ts";
import type { ToolUseKind, ResultPart, ResultStatus, Role } from "../session-message.ts";
import type { FailStep } from "../step.ts";
import type { Amount } from "./scenario-node.ts";

/** What a script says, and when. */
export interface Scenario {
  /** For messages, and for paths that are relative to it. */
  readonly file: string;
  readonly seed: string | number;
  /** Characters in a delta, and milliseconds before it. */
  readonly pace: Pace;
  /** Whether the turns that come in order begin again after the last. */
  readonly repeat: boolean;
  readonly turns: readonly ScriptTurn[];
}

export interface Pace {
  readonly chunk: Amount;
  readonly delay: Amount;
}

export interface ScriptTurn {
  /** Null for a turn that comes in its order. */
  readonly when: Condition | null;
  readonly answer: readonly ScriptItem[];
  readonly faults: ScriptFaults;
  readonly refuse: ScriptRefusal | null;
  readonly replay: { readonly file: string; readonly speed: ReplaySpeed } | null;
}

/** All that is given must hold for the newest message. */
export interface Condition {
  /** Part of its text, in any case. */
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
      readonly text: string /** Where it differs from the scenario's. */;
      readonly pace: Partial<Pace>;
    }
  | {
      readonly type: "reasoning";
      readonly text: string;
      readonly signature: string | null;
      /** Where it differs from the scenario's. */
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
  /** JSON text, which need not be right. */
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

/** As `Faults`, with numbers that the seed may pick. */
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
