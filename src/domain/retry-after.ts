import type { ErrorAnswer } from "./error-answer.ts";

/**
 * How long a server wants to be left alone, in seconds; undefined when it did not say. A date is held against the server's
 * own clock, which it was written by.
 */
export function secondsToWait(headers: ErrorAnswer["headers"]): number | undefined {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds / 1000;
  const given = headers["retry-after"];
  if (given === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(given)) return Number(given);
  const wait = (Date.parse(given) - Date.parse(headers["date"] ?? "")) / 1000;
  return wait >= 0 ? wait : undefined;
}
