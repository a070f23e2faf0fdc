import type { ConnectionOptions } from "../../aws/agentcore-client.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { InvocationLimits } from "../../providers/agentcore/invocation-limits.ts";
import {
  harnessProvider,
  type HarnessProvider,
} from "../../providers/agentcore/harness-provider.ts";
import {
  runtimeProvider,
  type RuntimeProvider,
} from "../../providers/agentcore/runtime-provider.ts";
import type { InvocationInput } from "../../providers/provider.ts";
import type { HarnessOverrides } from "../../wire/agentcore/harness/harness-request.ts";

export type { InvocationInput, InvocationLimits, ConnectionOptions };

/** An agent on AgentCore and the connection to it. */
export interface AgentCoreSettings extends ConnectionOptions {
  readonly harness?: string;
  readonly runtime?: string;
  readonly qualifier?: string;
  readonly userId?: string;
  readonly overrides?: HarnessOverrides;
  readonly limits?: InvocationLimits;
}

/**
 * Creates the provider of an agent named by ARN. Throws `invalid_option` unless exactly one of `harness` and `runtime`
 * is set.
 */
export function createAgentCoreProvider(
  settings: AgentCoreSettings,
): HarnessProvider | RuntimeProvider {
  const { harness, runtime, overrides = {}, ...shared } = settings;
  if (harness !== undefined && runtime === undefined) {
    return harnessProvider({ ...shared, harnessArn: harness, overrides });
  }
  if (runtime !== undefined && harness === undefined) {
    const [name] = Object.keys(overrides);
    if (name === undefined) return runtimeProvider({ ...shared, runtimeArn: runtime });
    const message = `${name} applies only to a harness: an agent runtime has its settings in its code`;
    throw new SpanlineError("invalid_option", message, { details: { path: name } });
  }
  const message = "Expected exactly one agent: the ARN of a harness or of an agent runtime";
  throw new SpanlineError("invalid_option", message, { details: { path: "harness" } });
}
