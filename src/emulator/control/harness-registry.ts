import type { JsonValue } from "../../data/json.ts";

/** A harness as seen by the data plane: its configuration in the version served by an endpoint. */
export interface HarnessRecord {
  readonly arn: string;
  /** The name and ten characters, joined by a dash. */
  readonly id: string;
  readonly name: string;
  /** The version served by the endpoint, counted from "1". */
  readonly version: string;
  /** The requested endpoint. Default: `DEFAULT`. */
  readonly endpoint: string;
  /** The status of the harness and of the endpoint. Strings, because tests may inject unknown values. */
  readonly status: string;
  readonly endpointStatus: string;
  /** The configuration in the wire format, as sent. */
  readonly model: JsonValue;
  readonly systemPrompt: readonly JsonValue[];
  readonly tools: readonly JsonValue[];
  readonly allowedTools: readonly string[];
  readonly skills: readonly JsonValue[];
  readonly maxIterations: number | undefined;
  readonly maxTokens: number | undefined;
  readonly timeoutSeconds: number | undefined;
  /** Null if the harness has no memory. */
  readonly memory: JsonValue;
  readonly environmentVariables: { readonly [name: string]: string };
  readonly tags: { readonly [name: string]: string };
  readonly lifecycle: Lifecycle;
  /** The value of `SPANLINE_BRAIN` in the environment variables, otherwise in the tags. */
  readonly brain: string | undefined;
}

/** The lifetime of a session. */
export interface Lifecycle {
  readonly idleSeconds: number;
  readonly lifetimeSeconds: number;
}

/** The control plane as seen by the data plane. */
export interface HarnessRegistry {
  /** Undefined if the harness or the endpoint does not exist. Default of `qualifier`: `DEFAULT`. */
  findHarness(arn: string, qualifier: string | undefined, now: number): HarnessRecord | undefined;
}
