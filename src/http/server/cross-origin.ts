import { isHeaderName } from "../routing/response-limits.ts";
import { readHeader } from "../routing/read-header.ts";
import type { HeaderField, ServedResponse } from "./http-types.ts";

/** How long a browser keeps the answer to its question. */
const PREFLIGHT_SECONDS = 600;

/** What lets a page of an allowed origin read an answer; nothing when no origin is allowed. Cookies are never let in. */
export function createCrossOriginHeaders(
  headers: readonly HeaderField[],
  allowedOrigins: readonly string[],
): ServedResponse["headers"] {
  if (allowedOrigins.length === 0) return {};
  const origin = readHeader({ headers }, "origin");
  if (origin === undefined || !allowedOrigins.includes(origin)) return { vary: "Origin" };
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "*",
  };
}

/** The answer to a browser that asks before it sends a page's request; undefined when it does not ask that. */
export function createPreflightResponse(
  method: string,
  headers: readonly HeaderField[],
  allowedOrigins: readonly string[],
): ServedResponse | undefined {
  const requestedMethod = readHeader({ headers }, "access-control-request-method");
  const origin = readHeader({ headers }, "origin") ?? "";
  if (method !== "OPTIONS" || requestedMethod === undefined) return undefined;
  if (!allowedOrigins.includes(origin)) return undefined;
  const names = (readHeader({ headers }, "access-control-request-headers") ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(isHeaderName);
  return {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, HEAD, POST, DELETE",
      // A star would not stand for `authorization`.
      "access-control-allow-headers": names.join(", "),
      "access-control-max-age": String(PREFLIGHT_SECONDS),
    },
    body: new Uint8Array(),
  };
}
