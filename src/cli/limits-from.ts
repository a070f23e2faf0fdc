import type { CallLimits } from "../bridge/provider-for.ts";

/** In seconds. */
export interface LimitFlags {
  readonly firstEventTimeout?: number;
  readonly idleTimeout?: number;
  /** For all of the call. */
  readonly timeout?: number;
}

export function limitsFrom({ firstEventTimeout, idleTimeout, timeout }: LimitFlags): CallLimits {
  return {
    ...(firstEventTimeout !== undefined && { firstEvent: firstEventTimeout * 1000 }),
    ...(idleTimeout !== undefined && { idle: idleTimeout * 1000 }),
    ...(timeout !== undefined && { total: timeout * 1000 }),
  };
}
