import type { JsonObject } from "../../data/json.ts";
import { collectValues } from "./collect-values.ts";

export interface UrlFacts {
  /** As they are asked for, without a name and password; what is no address stands as it came. */
  readonly urls: readonly string[];
  readonly domains: readonly string[];
}

/** Every address in a call's arguments, however deep; undefined where there is none. */
export function readUrlFacts(input: JsonObject): UrlFacts | undefined {
  const { values, isComplete } = collectValues(input, URL_ARGUMENT_NAME);
  const foundUrls = new Set<string>();
  for (const { value, hasMatchingName } of values) {
    if (typeof value !== "string") continue;
    const url = normalizeUrl(value);
    if (url !== undefined) foundUrls.add(url);
    // Where it leads is unknown, as with `example.com/x` and `//example.com`.
    else if (hasMatchingName || SCHEMELESS_URL.test(value))
      foundUrls.add(value.slice(0, MAX_URL_LENGTH));
  }
  if (!isComplete || foundUrls.size > MAX_URLS) foundUrls.add(UNKNOWN_URL);
  if (foundUrls.size === 0) return undefined;
  const urls = [...foundUrls].slice(-MAX_URLS);
  return { urls, domains: [...new Set(urls.flatMap((url) => readDomain(url) ?? []))] };
}

/** `url`, `uris`, `base_url`, `callbackUrl`: what stands there is an address, whatever it looks like. */
const URL_ARGUMENT_NAME = /(^|[_.-])[Uu][Rr][IiLl][Ss]?$|[a-z0-9]U(rl|RL|ri|RI)s?$/;

/** It leads to a host by the scheme of the page that it stands on. */
const SCHEMELESS_URL = /^[\s\p{Cc}]*[\\/]{2}[^\s\\/]\S*\s*$/u;

/** No address, so that it fits no rule that allows and every rule that does not. */
const UNKNOWN_URL = "…";
const MAX_URLS = 100;
const MAX_URL_LENGTH = 4_096;

/** In lower case, without the dot that may end it; undefined for what is no address. */
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

/** An address for a network, in one spelling. */
function normalizeUrl(text: string): string | undefined {
  // Whoever reads it may leave out more of its beginning than the parser does.
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

/** The parser passes over tabs and line ends wherever they stand. */
const SCHEME = new RegExp(
  `^(?:${["http", "https", "ws", "wss", "ftp"]
    .map((scheme) => `${scheme}:`.split("").join("[\\t\\n\\r]*"))
    .join("|")})`,
  "i",
);
