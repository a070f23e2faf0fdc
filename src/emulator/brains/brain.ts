import type { JsonValue } from "../../data/json.ts";
import type { EmulatorResponse, ServiceError } from "../service/service-types.ts";
import type { Faults } from "../faults.ts";
import type { Message } from "./session-message.ts";
import type { Step } from "./step.ts";

/** What answers for a harness or an agent: it plays the model, the tools of the other side and the hooks. */
export interface Brain {
  respond(request: BrainRequest): Promise<BrainResponse>;
}

export interface BrainRequest {
  /** The session so far; the last message is what is new. */
  readonly messages: readonly Message[];
  readonly settings: InvocationSettings;
  /** How many turns of this session came before this one. */
  readonly turn: number;
  /** What this brain noted at the end of its last turn in this session. */
  readonly note: JsonValue;
  /** Aborts when nobody wants the rest: the session was stopped, or its client left and the answer ends with it. */
  readonly signal: AbortSignal;
}

/** What a harness was told, with what this one invocation overrides. */
export interface InvocationSettings {
  readonly systemPrompt: readonly string[];
  readonly tools: readonly ToolSetting[];
  readonly allowedTools: readonly string[];
  /** The model union of the wire; null where nobody chose. */
  readonly model: JsonValue;
  readonly limits: EmulatedLimits;
}

export interface ToolSetting {
  readonly type: string;
  readonly name: string;
  /** Of inline functions. */
  readonly description: string;
  readonly inputSchema: JsonValue;
}

export interface EmulatedLimits {
  readonly maxIterations: number;
  /** Of one invocation. */
  readonly maxTokens: number | null;
  /** Of one answer of the model. */
  readonly maxTokensPerCall: number | null;
  readonly timeoutSeconds: number;
}

export type BrainResponse = StepsResponse | ReadyResponse | RefusedResponse;

/** Said step by step. */
export interface StepsResponse {
  readonly type: "steps";
  readonly steps: AsyncIterable<Step> | Iterable<Step>;
  readonly faults?: Faults;
  /** Given back with the next turn of this session. */
  readonly note?: JsonValue;
}

/** Bytes that are there already, such as a recording. Nothing of it is remembered but what was asked. */
export interface ReadyResponse {
  readonly type: "ready";
  readonly response: EmulatorResponse;
  readonly note?: JsonValue;
}

/** An error in place of a stream. */
export interface RefusedResponse {
  readonly type: "refused";
  readonly error: ServiceError;
  readonly note?: JsonValue;
}
