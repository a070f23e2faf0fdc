import type { JsonObject } from "../../data/json.ts";
import { collectValues } from "./collect-values.ts";

export interface UrlFacts {
  /** Normalized, without credentials. A value which is not a valid URL is listed unchanged. */
  readonly urls: readonly string[];
  readonly domains: readonly string[];
}

/**
 * Every URL in the arguments, at any depth. Undefined if there are none. Contains `UNKNOWN_URL` if a
 * URL cannot be read, or if there are too many values or URLs.
 */
export function readUrlFacts(input: JsonObject): UrlFacts | undefined {
  const { values, isComplete } = collectValues(input, URL_ARGUMENT_NAME);
  const foundUrls = new Set<string>();
  for (const { value, hasMatchingName } of values) {
    if (typeof value !== "string") continue;
    const url = normalizeUrl(value);
    if (url !== undefined) foundUrls.add(url);
    // The destination is unknown, as for `example.com/x` and `//example.com`.
    else if (hasMatchingName || SCHEMELESS_URL.test(value))
      foundUrls.add(value.slice(0, MAX_URL_LENGTH));
  }
  if (!isComplete || foundUrls.size > MAX_URLS) foundUrls.add(UNKNOWN_URL);
  if (foundUrls.size === 0) return undefined;
  const urls = [...foundUrls].slice(-MAX_URLS);
  return { urls, domains: [...new Set(urls.flatMap((url) => readDomain(url) ?? []))] };
}

/** `url`, `uris`, `base_url`, `callbackUrl`: the value of such an argument counts as a URL in any form. */
const URL_ARGUMENT_NAME = /(^|[_.-])[Uu][Rr][IiLl][Ss]?$|[a-z0-9]U(rl|RL|ri|RI)s?$/;

/** A protocol-relative URL, which takes its scheme from the page. */
const SCHEMELESS_URL = /^[\s\p{Cc}]*[\\/]{2}[^\s\\/]\S*\s*$/u;

/** Not a valid URL: never matches an `allow` rule, always matches a `deny` or `ask` rule. */
const UNKNOWN_URL = "…";
const MAX_URLS = 100;
const MAX_URL_LENGTH = 4_096;

/** Lowercase, without a trailing dot. Undefined for an invalid URL. */
function readDomain(url: string): string | undefined {
  const parsed = parseUrl(url);
  return parsed?.hostname.toLowerCase().replace(/\.$/, "");
}

export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Normalizes a network URL. Undefined for other strings. */
function normalizeUrl(text: string): string | undefined {
  // The tool may ignore more leading characters than the URL parser does.
  const start = text.replace(INVISIBLE_PREFIX, "");
  if (!SCHEME.test(start)) return undefined;
  if (text.length > MAX_URL_LENGTH) return UNKNOWN_URL;
  const url = parseUrl(text);
  if (url === undefined) return parseUrl(start) === undefined ? undefined : UNKNOWN_URL;
  url.username = "";
  url.password = "";
  return url.href;
}

const INVISIBLE_PREFIX = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]+/u;

/** The URL parser ignores tabs and line ends at any position. */
const SCHEME = new RegExp(
  `^(?:${["http", "https", "ws", "wss", "ftp"]
    .map((scheme) => `${scheme}:`.split("").join("[\\t\\n\\r]*"))
    .join("|")})`,
  "i",
);
