import {
  providerError,
  type ProviderError,
  type ProviderErrorFacts,
} from "../domain/provider-error.ts";

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
export function limitsOr(given: Partial<TimeLimits>, defaults: TimeLimits): TimeLimits {
  return {
    connect: given.connect ?? defaults.connect,
    firstEvent: given.firstEvent ?? defaults.firstEvent,
    idle: given.idle ?? defaults.idle,
    total: given.total ?? defaults.total,
    idleCounts: given.idleCounts ?? defaults.idleCounts,
  };
}

export function limitError(
  name: Exclude<LimitName, "rest">,
  limits: TimeLimits,
  facts: Pick<ProviderErrorFacts, "phase" | "requestId">,
): ProviderError {
  const seconds = limits[name] / 1000;
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
