import type { ErrorResponse } from "./error-response.ts";

/**
 * Returns the retry delay requested by a server, in seconds; undefined if there is none. A date is compared with the
 * server's `Date` header, because the local clock may differ.
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
