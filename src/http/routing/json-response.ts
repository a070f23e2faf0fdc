import { toJsonText } from "../../data/json.ts";
import type { StreamPace, ServedResponse } from "../server/http-types.ts";

/**
 * On every answer. Nothing of a session is kept by a cache, guessed to be another type, or handed to a
 * page of another origin that asks for it as a script or an image.
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

/** The same for what is JSON already. */
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

/** Text in pieces. Behind a proxy that gathers answers, it would come late. */
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
