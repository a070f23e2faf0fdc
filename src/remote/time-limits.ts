import {
  createProviderError,
  type ProviderError,
  type ProviderErrorDetails,
} from "../domain/provider/provider-error.ts";

/** How long a call may take, in milliseconds. `Infinity` is no limit. */
export interface TimeLimits {
  /** Until there is a connection. */
  readonly connect: number;
  /** From sending the request to the first event. */
  readonly firstEvent: number;
  /** Between two signs of life. */
  readonly idle: number;
  /** All of it. */
  readonly total: number;
  /** What counts as a sign of life: any byte, or only events, so that keep-alives do not. */
  readonly idleCounts: "bytes" | "events";
}

/** `rest` is the time that a stream has to close after it said that it is over. */
export type LimitName = "firstEvent" | "idle" | "total" | "rest";

/** The limits of a caller who does not give all of them. */
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
      return createProviderError("first_event_timeout", `No event came within ${seconds} s`, facts);
    case "idle":
      return createProviderError("idle_timeout", `Nothing came for ${seconds} s`, facts);
    case "total":
      return createProviderError(
        "deadline_exceeded",
        `The call took longer than ${seconds} s`,
        facts,
      );
    default:
      return name satisfies never;
  }
}
