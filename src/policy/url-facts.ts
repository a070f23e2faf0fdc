import { isObject, type JsonObject, type JsonValue } from "../domain/json.ts";

export interface UrlFacts {
  /** As they are asked for, without a name and password; what is no address stands as it came. */
  readonly urls: readonly string[];
  readonly domains: readonly string[];
}

/** Every address in a call's arguments, however deep; undefined where there is none. */
export function urlFacts(input: JsonObject): UrlFacts | undefined {
  const { texts, isWhole } = textsIn(input);
  const found = new Set(texts.flatMap((text) => readUrl(text) ?? []));
  for (const text of namedAsAddresses(input)) {
    if (readUrl(text) === undefined) found.add(text.slice(0, LONGEST_URL));
  }
  if (!isWhole || found.size > MOST_URLS) found.add(UNKNOWN_URL);
  if (found.size === 0) return undefined;
  const urls = [...found].slice(-MOST_URLS);
  return { urls, domains: [...new Set(urls.flatMap((url) => domainOf(url) ?? []))] };
}

/** No address, so that it fits no rule that allows and every rule that does not. */
const UNKNOWN_URL = "…";
const MOST_URLS = 100;
const LONGEST_URL = 4_096;
const MOST_VALUES = 100_000;

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
  // As the parser does it: these characters are passed over wherever they stand.
  const start = text
    .slice(0, 64)
    .replaceAll(/[\t\n\r]/g, "")
    .trimStart();
  if (!/^[\0- ]*(https?|wss?|ftp):/i.test(start)) return undefined;
  if (text.length > LONGEST_URL) return UNKNOWN_URL;
  const url = parseUrl(text);
  if (url === undefined) return undefined;
  url.username = "";
  url.password = "";
  return url.href;
}

function textsIn(input: JsonObject): { texts: string[]; isWhole: boolean } {
  const texts: string[] = [];
  const open: JsonValue[] = [input];
  for (let at = 0; at < open.length; at++) {
    const value = open[at] ?? null;
    if (typeof value === "string") texts.push(value);
    else if (isObject(value) || Array.isArray(value)) {
      const inner = Object.values(value);
      if (open.length + inner.length > MOST_VALUES) return { texts, isWhole: false };
      for (const one of inner) open.push(one);
    }
  }
  return { texts, isWhole: true };
}

/** What an argument calls an address though it is none, such as `example.com/x`: where it leads is unknown. */
function namedAsAddresses(input: JsonObject): string[] {
  return Object.entries(input)
    .filter(([name]) => /^(url|uri)s?$/i.test(name))
    .flatMap(([, value]) => value)
    .filter((value) => typeof value === "string");
}
