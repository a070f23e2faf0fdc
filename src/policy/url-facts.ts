import type { JsonObject } from "../domain/json.ts";
import { valuesIn } from "./values-in.ts";

export interface UrlFacts {
  /** As they are asked for, without a name and password; what is no address stands as it came. */
  readonly urls: readonly string[];
  readonly domains: readonly string[];
}

/** Every address in a call's arguments, however deep; undefined where there is none. */
export function urlFacts(input: JsonObject): UrlFacts | undefined {
  const { values, isWhole } = valuesIn(input, NAME_OF_ADDRESSES);
  const found = new Set<string>();
  for (const { value, isNamed } of values) {
    if (typeof value !== "string") continue;
    const url = readUrl(value);
    if (url !== undefined) found.add(url);
    // Where it leads is unknown, as with `example.com/x` and `//example.com`.
    else if (isNamed || WITHOUT_SCHEME.test(value)) found.add(value.slice(0, LONGEST_URL));
  }
  if (!isWhole || found.size > MOST_URLS) found.add(UNKNOWN_URL);
  if (found.size === 0) return undefined;
  const urls = [...found].slice(-MOST_URLS);
  return { urls, domains: [...new Set(urls.flatMap((url) => domainOf(url) ?? []))] };
}

/** `url`, `uris`, `base_url`, `callbackUrl`: what stands there is an address, whatever it looks like. */
const NAME_OF_ADDRESSES = /(^|[_.-])[Uu][Rr][IiLl][Ss]?$|[a-z0-9]U(rl|RL|ri|RI)s?$/;

/** It leads to a host by the scheme of the page that it stands on. */
const WITHOUT_SCHEME = /^[\s\p{Cc}]*[\\/]{2}[^\s\\/]\S*\s*$/u;

/** No address, so that it fits no rule that allows and every rule that does not. */
const UNKNOWN_URL = "…";
const MOST_URLS = 100;
const LONGEST_URL = 4_096;

/** In lower case, without the dot that may end it; undefined for what is no address. */
function domainOf(url: string): string | undefined {
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
function readUrl(text: string): string | undefined {
  // Whoever reads it may leave out more of its beginning than the parser does.
  const start = text.replace(UNSEEN_BEGINNING, "");
  if (!SCHEME.test(start)) return undefined;
  if (text.length > LONGEST_URL) return UNKNOWN_URL;
  const url = parseUrl(text);
  if (url === undefined) return parseUrl(start) === undefined ? undefined : UNKNOWN_URL;
  url.username = "";
  url.password = "";
  return url.href;
}

const UNSEEN_BEGINNING = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]+/u;

/** The parser passes over tabs and line ends wherever they stand. */
const SCHEME = new RegExp(
  `^(?:${["http", "https", "ws", "wss", "ftp"]
    .map((scheme) => `${scheme}:`.split("").join("[\\t\\n\\r]*"))
    .join("|")})`,
  "i",
);
