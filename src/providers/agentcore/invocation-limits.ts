import { mergeLimits, type TimeLimits } from "../../remote/time-limits.ts";
import { throwInvalidOption } from "../../wire/agentcore/check-options.ts";

/** Timeouts of an invocation, in milliseconds. `Infinity` means no limit. */
export type InvocationLimits = Partial<TimeLimits>;

/**
 * A machine may have to start before the first event, and a tool may run without output. The service itself ends a
 * stream after 60 minutes.
 */
const DEFAULT_LIMITS: TimeLimits = {
  connect: 10_000,
  firstEvent: 300_000,
  idle: 300_000,
  total: 3_660_000,
  idleCounts: "bytes",
};

/** Validates the limits and adds defaults. Throws `invalid_option` for an invalid duration. */
export function resolveLimits(limits: InvocationLimits): TimeLimits {
  for (const name of ["connect", "firstEvent", "idle", "total"] as const) {
    const limit: unknown = limits[name];
    if (limit === undefined || (typeof limit === "number" && limit > 0)) continue;
    throwInvalidOption(`limits.${name}`, limit, "milliseconds above 0, or Infinity for no limit");
  }
  return mergeLimits(limits, DEFAULT_LIMITS);
}
