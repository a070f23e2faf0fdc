import type { JsonValue } from "../../data/json.ts";
import type { EmulatorResponse, ServiceError } from "../service/service-types.ts";
import type { Faults } from "../faults.ts";
import type { Message } from "./session-message.ts";
import type { Step } from "./step.ts";

/**
 * Produces the responses of a harness or an agent. A brain plays the model, the tools on the service's side and the
 * hooks.
 */
export interface Brain {
  respond(request: BrainRequest): Promise<BrainResponse>;
}

export interface BrainRequest {
  /** The messages of the session so far. The last message is the new input. */
  readonly messages: readonly Message[];
  readonly settings: InvocationSettings;
  /** The number of earlier turns in this session. */
  readonly turn: number;
  /** The note stored by this brain at the end of its last turn in this session. */
  readonly note: JsonValue;
  /**
   * Aborts when the rest of the response is not needed: the session was stopped, or its client disconnected and the
   * response ends with it.
   */
  readonly signal: AbortSignal;
}

/** The settings of a harness, merged with the overrides of this invocation. */
export interface InvocationSettings {
  readonly systemPrompt: readonly string[];
  readonly tools: readonly ToolSetting[];
  readonly allowedTools: readonly string[];
  /** The model union of the wire format. Null if no model was chosen. */
  readonly model: JsonValue;
  readonly limits: EmulatedLimits;
}

export interface ToolSetting {
  readonly type: string;
  readonly name: string;
  /** Empty except for inline functions. */
  readonly description: string;
  readonly inputSchema: JsonValue;
}

export interface EmulatedLimits {
  readonly maxIterations: number;
  /** Limit of the whole invocation. */
  readonly maxTokens: number | null;
  /** Limit of a single model response. */
  readonly maxTokensPerCall: number | null;
  readonly timeoutSeconds: number;
}

export type BrainResponse = StepsResponse | ReadyResponse | RefusedResponse;

/** A response generated step by step. */
export interface StepsResponse {
  readonly type: "steps";
  readonly steps: AsyncIterable<Step> | Iterable<Step>;
  readonly faults?: Faults;
  /** Passed to the next turn of this session. */
  readonly note?: JsonValue;
}

/** A response with existing bytes, such as a recording. Only the request is stored in the session. */
export interface ReadyResponse {
  readonly type: "ready";
  readonly response: EmulatorResponse;
  readonly note?: JsonValue;
}

/** An error instead of a stream. */
export interface RefusedResponse {
  readonly type: "refused";
  readonly error: ServiceError;
  readonly note?: JsonValue;
}
