import type { BudgetCaps } from "../../../domain/budget.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { InputItem } from "./input-item.ts";
import type { TraceMode } from "../../../domain/responses-settings.ts";

/** A validated request for a response. Absent fields are null, an empty list or an empty object. */
export interface CreateRequest {
  readonly model: string | null;
  readonly input: readonly InputItem[];
  readonly previousResponseId: string | null;
  readonly conversation: string | null;
  /** A Spanline extension to the standard session fields, resolved together with them. */
  readonly sessionId: unknown;
  readonly instructions: string | null;
  readonly tools: readonly RequestTool[];
  readonly toolChoice: RequestToolChoice;
  readonly parallelToolCalls: boolean | null;
  readonly maxOutputTokens: number | null;
  readonly maxToolCalls: number | null;
  /** The budget of the turn. Null if the request has none. */
  readonly budget: BudgetCaps | null;
  readonly sampling: Sampling;
  readonly reasoning: ReasoningOptions | null;
  readonly textFormat: TextFormat;
  readonly verbosity: string | null;
  readonly truncation: "auto" | "disabled";
  readonly store: boolean;
  readonly background: boolean;
  readonly stream: boolean;
  readonly serviceTier: string | null;
  readonly metadata: { readonly [name: string]: string };
  readonly safetyIdentifier: string | null;
  readonly promptCacheKey: string | null;
  readonly trace: TraceMode | null;
  /** Names of fields without effect: unknown fields, and settings which agents do not support. */
  readonly ignored: readonly string[];
}

/** A tool of the caller. */
export interface RequestTool {
  readonly name: string;
  readonly description: string | null;
  readonly parameters: JsonObject | null;
  readonly strict: boolean | null;
}

export type RequestToolChoice =
  | "auto"
  | "none"
  | { readonly tool: string }
  | { readonly allowed: readonly string[]; readonly mode: "auto" | "none" };

/** Sampling parameters: accepted and repeated in the response, but without effect on agents. */
export interface Sampling {
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  readonly topLogprobs: number | null;
}

export interface ReasoningOptions {
  readonly effort: string | null;
  readonly summary: string | null;
}

export type TextFormat =
  | { readonly type: "text" | "json_object" }
  | {
      readonly type: "json_schema";
      readonly name: string;
      readonly description: string | null;
      readonly schema: JsonObject;
      readonly strict: boolean;
    };
