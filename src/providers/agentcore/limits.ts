import type { CallGuard } from "../../async/call-guard.ts";
import { refuse } from "../../wire/agentcore/check.ts";
import {
  providerError,
  type ProviderError,
  type ProviderErrorFacts,
} from "../../domain/provider-error.ts";

/** How long a call may take, in milliseconds. `Infinity` is no limit. */
export interface CallLimits {
  /** From sending the request to the first event. */
  readonly firstEvent?: number;
  /** Between two signs of life. */
  readonly idle?: number;
  /** All of it. */
  readonly total?: number;
  /** What counts as a sign of life: any byte, or only events, so that keep-alives do not. */
  readonly idleCounts?: "bytes" | "events";
}

export type LimitName = "firstEvent" | "idle" | "total";
export type Guard = CallGuard<LimitName>;

/** A machine may have to start before the first event; a tool may run in silence; the service ends a stream itself at 60 minutes. */
export const DEFAULT_LIMITS = {
  firstEvent: 300_000,
  idle: 300_000,
  total: 3_660_000,
} as const;

/** Throws on what is no time. */
export function checkLimits(limits: CallLimits): CallLimits {
  for (const name of ["firstEvent", "idle", "total"] as const) {
    const limit: unknown = limits[name];
    if (limit === undefined || (typeof limit === "number" && limit > 0)) continue;
    refuse(`limits.${name}`, limit, "milliseconds above 0, or Infinity for no limit");
  }
  return limits;
}

export function milliseconds(limits: CallLimits, name: LimitName): number | undefined {
  const limit = limits[name] ?? DEFAULT_LIMITS[name];
  return Number.isFinite(limit) ? limit : undefined;
}

export function limitError(
  name: LimitName,
  limits: CallLimits,
  facts: Pick<ProviderErrorFacts, "phase" | "requestId">,
): ProviderError {
  const seconds = (milliseconds(limits, name) ?? 0) / 1000;
  switch (name) {
    case "firstEvent":
      return providerError("first_event_timeout", `No event came within ${seconds} s`, facts);
    case "idle":
      return providerError("idle_timeout", `Nothing came for ${seconds} s`, facts);
    case "total":
      return providerError("deadline_exceeded", `The call took longer than ${seconds} s`, facts);
    default:
      return name satisfies never;
  }
}
