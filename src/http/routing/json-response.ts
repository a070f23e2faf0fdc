import { toJsonText } from "../../data/json.ts";
import type { StreamPace, ServedResponse } from "../server/http-types.ts";

/**
 * On every response: no cache stores session data, no browser guesses another type, and no page of another origin loads
 * a response as a script or an image.
 */
export const SECURITY_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

export function createJsonResponse(
  status: number,
  value: unknown,
  headers: ServedResponse["headers"] = {},
): ServedResponse {
  return createJsonTextResponse(status, `${toJsonText(value)}\n`, headers);
}

/** Like `createJsonResponse`, for a value which is already JSON. */
export function createJsonTextResponse(
  status: number,
  text: string,
  headers: ServedResponse["headers"] = {},
): ServedResponse {
  return {
    status,
    headers: { ...SECURITY_HEADERS, "content-type": "application/json; charset=utf-8", ...headers },
    body: Buffer.from(text),
  };
}

/** Streams plain text. `x-accel-buffering: no` stops reverse proxies from buffering it. */
export function createTextStream(body: AsyncIterable<string>, pace: StreamPace): ServedResponse {
  return {
    status: 200,
    headers: {
      ...SECURITY_HEADERS,
      "content-type": "text/plain; charset=utf-8",
      "x-accel-buffering": "no",
    },
    body,
    pace,
  };
}
