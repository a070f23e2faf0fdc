import type { ExaminedEvent } from "./store.ts";

/** What is wrong at one place of a log; undefined if nothing is. */
export function examinedProblem(examined: ExaminedEvent): string | undefined {
  switch (examined.status) {
    case "readable":
      return undefined;
    case "newer":
      return `event ${examined.seq} was written by a newer version (${examined.type}, version ${examined.version})`;
    case "damaged":
      return `event ${examined.seq} cannot be read: ${examined.reason}`;
    case "missing":
      return missingText(examined);
    default:
      return examined satisfies never;
  }
}

function missingText({
  seq,
  through,
  count,
}: Extract<ExaminedEvent, { readonly status: "missing" }>): string {
  if (seq === through) return `event ${seq} is missing`;
  if (count === through - seq + 1) return `events ${seq} to ${through} are missing`;
  return `${count} of the events ${seq} to ${through} ${count === 1 ? "is" : "are"} missing`;
}

/** Where reading continues after some examined events; undefined for none. */
export function endOfExamined(examined: readonly ExaminedEvent[]): number | undefined {
  const last = examined.at(-1);
  return last?.status === "missing" ? last.through : last?.seq;
}
