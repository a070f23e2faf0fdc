import {
  createProviderError,
  type ProviderError,
  type ProviderErrorDetails,
} from "../domain/provider/provider-error.ts";

/** Timeouts of a request, in milliseconds. `Infinity` means no limit. */
export interface TimeLimits {
  /** Until the connection is established. */
  readonly connect: number;
  /** From sending the request to the first event. */
  readonly firstEvent: number;
  /** Between two signs of activity, see `idleCounts`. */
  readonly idle: number;
  /** The whole request, including the response. */
  readonly total: number;
  /** What resets the idle timeout: any byte, or only events, so keep-alive bytes do not count. */
  readonly idleCounts: "bytes" | "events";
}

/** `rest` is the time for a finished stream to close its connection. */
export type LimitName = "firstEvent" | "idle" | "total" | "rest";

/** Merges the caller's limits with the defaults. */
export function mergeLimits(overrides: Partial<TimeLimits>, defaults: TimeLimits): TimeLimits {
  return {
    connect: overrides.connect ?? defaults.connect,
    firstEvent: overrides.firstEvent ?? defaults.firstEvent,
    idle: overrides.idle ?? defaults.idle,
    total: overrides.total ?? defaults.total,
    idleCounts: overrides.idleCounts ?? defaults.idleCounts,
  };
}

export function createLimitError(
  name: Exclude<LimitName, "rest">,
  limits: TimeLimits,
  facts: Pick<ProviderErrorDetails, "phase" | "requestId">,
): ProviderError {
  const seconds = limits[name] / 1000;
  switch (name) {
    case "firstEvent":
      return createProviderError(
        "first_event_timeout",
        `No event was received within ${seconds} s`,
        facts,
      );
    case "idle":
      return createProviderError("idle_timeout", `No data was received for ${seconds} s`, facts);
    case "total":
      return createProviderError(
        "deadline_exceeded",
        `The request took longer than ${seconds} s`,
        facts,
      );
    default:
      return name satisfies never;
  }
}
