import type { InvocationLimits } from "../../../bridge/agent/agentcore-provider.ts";

/** Timeouts in seconds. */
export interface LimitFlags {
  readonly connectTimeout?: number;
  readonly firstEventTimeout?: number;
  readonly idleTimeout?: number;
  /** Limit for the whole invocation. */
  readonly timeout?: number;
}

export function readInvocationLimits(flags: LimitFlags): InvocationLimits {
  const { connectTimeout, firstEventTimeout, idleTimeout, timeout } = flags;
  return {
    ...(connectTimeout !== undefined && { connect: connectTimeout * 1000 }),
    ...(firstEventTimeout !== undefined && { firstEvent: firstEventTimeout * 1000 }),
    ...(idleTimeout !== undefined && { idle: idleTimeout * 1000 }),
    ...(timeout !== undefined && { total: timeout * 1000 }),
  };
}
