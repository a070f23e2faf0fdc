import { parseUrl } from "../facts/url-facts.ts";
import {
  mayMatchInAnySpelling,
  matchesExactly,
  createSpelledText,
  type SpelledText,
} from "./wildcard.ts";

/** A parsed URL pattern. Its parts are compared separately, so that no `*` extends from the host into the path. */
export interface UrlPattern {
  readonly scheme: SpelledText;
  readonly host: SpelledText;
  readonly path: SpelledText;
}

export function parseUrlPattern(pattern: string): UrlPattern {
  const [, scheme = "", host = "", path = ""] = URL_PATTERN.exec(pattern) ?? [];
  return {
    scheme: createSpelledText(scheme.toLowerCase()),
    host: createSpelledText(host.toLowerCase()),
    path: createSpelledText(path),
  };
}

const URL_PATTERN = /^([A-Za-z]+|\*):\/\/([^/?#@\\]+)(\/[^#]*)$/;

export function findUrlPatternProblem(pattern: string): string | undefined {
  if (URL_PATTERN.test(pattern)) return undefined;
  return "is not a URL pattern: expected scheme, host and path, as in https://example.com/*";
}

/** Exact matching (`allow` rules). */
export function matchesUrl({ scheme, host, path }: UrlPattern, url: string): boolean {
  const parsed = parseUrl(url);
  if (parsed === undefined || ESCAPED_SEPARATOR.test(parsed.pathname)) return false;
  return (
    matchesExactly(scheme, createSpelledText(parsed.protocol.slice(0, -1))) &&
    matchesExactly(host, createSpelledText(parsed.host)) &&
    matchesExactly(path, createSpelledText(`${parsed.pathname}${parsed.search}`))
  );
}

/** Some servers decode an escaped separator, and the path then leads elsewhere. */
const ESCAPED_SEPARATOR = /%2f|%5c/i;

/**
 * Conservative matching (`deny` and `ask` rules): an invalid URL matches, since it may lead anywhere; escapes are
 * decoded.
 */
export function mayMatchUrl({ scheme, host, path }: UrlPattern, url: string): boolean {
  const parsed = parseUrl(url);
  if (parsed === undefined) return true;
  const hosts = [parsed.host, parsed.hostname, parsed.hostname.replace(/\.$/, "")];
  const written = `${parsed.pathname}${parsed.search}`;
  return (
    mayMatchInAnySpelling(scheme, createSpelledText(parsed.protocol.slice(0, -1))) &&
    hosts.some((spelling) => mayMatchInAnySpelling(host, createSpelledText(spelling))) &&
    [written, unescapePath(written), parsed.pathname].some((spelling) =>
      mayMatchInAnySpelling(path, createSpelledText(spelling)),
    )
  );
}

function unescapePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
