import { isHeaderName } from "../routing/response-limits.ts";
import { readHeader } from "../routing/read-header.ts";
import type { HeaderField, ServedResponse } from "./http-types.ts";

/** How long a browser caches a preflight response. */
const PREFLIGHT_SECONDS = 600;

/**
 * CORS headers which let a page of an allowed origin read the response; empty if no origin is allowed. Credentials
 * (cookies) are never allowed.
 */
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

/** The response to a CORS preflight request from an allowed origin. Undefined for any other request. */
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
      // The wildcard `*` does not cover `authorization`, so the requested names are listed.
      "access-control-allow-headers": names.join(", "),
      "access-control-max-age": String(PREFLIGHT_SECONDS),
    },
    body: new Uint8Array(),
  };
}
