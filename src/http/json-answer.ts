import { jsonText } from "../domain/json.ts";
import type { Pace, ServedAnswer } from "./served.ts";

/**
 * On every answer. Nothing of a session is kept by a cache, guessed to be another type, or handed to a
 * page of another origin that asks for it as a script or an image.
 */
export const GUARDING_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
} as const;

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: ServedAnswer["headers"] = {},
): ServedAnswer {
  return jsonTextAnswer(status, `${jsonText(value)}\n`, headers);
}

/** The same for what is JSON already. */
export function jsonTextAnswer(
  status: number,
  text: string,
  headers: ServedAnswer["headers"] = {},
): ServedAnswer {
  return {
    status,
    headers: { ...GUARDING_HEADERS, "content-type": "application/json; charset=utf-8", ...headers },
    body: Buffer.from(text),
  };
}

/** Text in pieces. Behind a proxy that gathers answers, it would come late. */
export function textStream(body: AsyncIterable<string>, pace: Pace): ServedAnswer {
  return {
    status: 200,
    headers: {
      ...GUARDING_HEADERS,
      "content-type": "text/plain; charset=utf-8",
      "x-accel-buffering": "no",
    },
    body,
    pace,
  };
}
