import type { ErrorResponse } from "./error-response.ts";

/**
 * How long a server wants to be left alone, in seconds; undefined when it did not say. A date is held against the server's
 * own clock, which it was written by.
 */
export function parseRetryAfter(headers: ErrorResponse["headers"]): number | undefined {
  const milliseconds = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds / 1000;
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value);
  const wait = (Date.parse(value) - Date.parse(headers["date"] ?? "")) / 1000;
  return wait >= 0 ? wait : undefined;
}
