import type { JsonValue } from "../../data/json.ts";

/** What the data plane needs to know of a harness: its configuration in the version that an endpoint serves. */
export interface HarnessRecord {
  readonly arn: string;
  /** Name and ten characters, joined by a dash. */
  readonly id: string;
  readonly name: string;
  /** The version that the endpoint serves, counted from "1". */
  readonly version: string;
  /** The endpoint that was asked for; `DEFAULT` when none was. */
  readonly endpoint: string;
  /** Of the harness, and of that endpoint. Strings: tests may inject words that the service does not have. */
  readonly status: string;
  readonly endpointStatus: string;
  /** Configuration in the words of the wire, as its owner wrote it. */
  readonly model: JsonValue;
  readonly systemPrompt: readonly JsonValue[];
  readonly tools: readonly JsonValue[];
  readonly allowedTools: readonly string[];
  readonly skills: readonly JsonValue[];
  readonly maxIterations: number | undefined;
  readonly maxTokens: number | undefined;
  readonly timeoutSeconds: number | undefined;
  /** Null when the harness has no memory at all. */
  readonly memory: JsonValue;
  readonly environmentVariables: { readonly [name: string]: string };
  readonly tags: { readonly [name: string]: string };
  readonly lifecycle: Lifecycle;
  /** What `SPANLINE_BRAIN` says, in the environment variables first and in the tags second. */
  readonly brain: string | undefined;
}

/** How long a session of the harness lives. */
export interface Lifecycle {
  readonly idleSeconds: number;
  readonly lifetimeSeconds: number;
}

/** How the data plane sees the control plane. */
export interface HarnessRegistry {
  /** Undefined when there is no such harness, or none with an endpoint of that name. `qualifier` defaults to `DEFAULT`. */
  findHarness(arn: string, qualifier: string | undefined, now: number): HarnessRecord | undefined;
}
