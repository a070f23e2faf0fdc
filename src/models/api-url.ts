import { SpanlineError } from "../domain/errors.ts";

/** The address of an API's operation, below a base that may have a path and a query of its own. */
export function resolveApiUrl(baseUrl: string, operation: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    const message = "The base URL of the model is no address that begins with http:// or https://";
    throw new SpanlineError("invalid_option", message, { details: { path: "baseUrl" } });
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${operation}`;
  return url;
}

/** A key as it can go into a header: a line break at its end is a slip, one inside it a mistake. */
export function checkApiKey(key: string, path: string): string {
  const trimmed = key.trim();
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed;
  const message = "The key is empty or holds characters that no key has, such as blanks";
  throw new SpanlineError("invalid_option", message, { details: { path } });
}
