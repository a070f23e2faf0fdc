import { SpanlineError } from "../domain/errors.ts";

/** The URL of an API operation. The base URL may have a path and a query. */
export function resolveApiUrl(baseUrl: string, operation: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const message =
      "The base URL of the model is not valid: expected a URL that begins with http:// or https://";
    throw new SpanlineError("invalid_option", message, { details: { path: "baseUrl" } });
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${operation}`;
  return url;
}

/**
 * Validates an API key for use in a header. Surrounding whitespace is removed, because a trailing newline is common;
 * whitespace inside the key throws `invalid_option`.
 */
export function checkApiKey(key: string, path: string): string {
  const trimmed = key.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  const message = "The key is not valid: expected printable ASCII characters without spaces";
  throw new SpanlineError("invalid_option", message, { details: { path } });
}
