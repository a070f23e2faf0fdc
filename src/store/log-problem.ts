import type { InspectedEvent } from "./log-store.ts";

/** Describes the problem at one position of a log. Undefined if the event is readable. */
export function formatLogProblem(inspected: InspectedEvent): string | undefined {
  switch (inspected.status) {
    case "readable":
      return undefined;
    case "newer":
      return `event ${inspected.seq} was written by a newer version (${inspected.type}, version ${inspected.version})`;
    case "damaged":
      return `event ${inspected.seq} cannot be read: ${inspected.reason}`;
    case "missing":
      return formatMissingEvents(inspected);
    default:
      return inspected satisfies never;
  }
}

function formatMissingEvents({
  seq,
  through,
  count,
}: Extract<InspectedEvent, { readonly status: "missing" }>): string {
  if (seq === through) return `event ${seq} is missing`;
  if (count === through - seq + 1) return `events ${seq} to ${through} are missing`;
  return `${count} of the events ${seq} to ${through} ${count === 1 ? "is" : "are"} missing`;
}

/** The sequence number after which reading continues. Undefined if `inspected` is empty. */
export function findInspectedEnd(inspected: readonly InspectedEvent[]): number | undefined {
  const last = inspected.at(-1);
  return last?.status === "missing" ? last.through : last?.seq;
}
