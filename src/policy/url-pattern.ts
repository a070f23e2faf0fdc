import { parseUrl } from "./url-facts.ts";
import { fitsAnySpelling, fitsExactly, spelled, type Spelled } from "./wildcard.ts";

/** The parts of an address are compared each by itself, so that no star reaches from the host into the path. */
export interface UrlPattern {
  readonly scheme: Spelled;
  readonly host: Spelled;
  readonly path: Spelled;
}

export function parseUrlPattern(pattern: string): UrlPattern {
  const [, scheme = "", host = "", path = ""] = URL_PATTERN.exec(pattern) ?? [];
  return {
    scheme: spelled(scheme.toLowerCase()),
    host: spelled(host.toLowerCase()),
    path: spelled(path),
  };
}

const URL_PATTERN = /^([A-Za-z]+|\*):\/\/([^/?#@\\]+)(\/[^#]*)$/;

export function problemWithUrlPattern(pattern: string): string | undefined {
  if (URL_PATTERN.test(pattern)) return undefined;
  return "is no pattern of addresses; write scheme, host and path, as in https://example.com/*";
}

/** For rules that allow. */
export function fitsUrl({ scheme, host, path }: UrlPattern, url: string): boolean {
  const parsed = parseUrl(url);
  if (parsed === undefined || HIDDEN_SEPARATOR.test(parsed.pathname)) return false;
  return (
    fitsExactly(scheme, spelled(parsed.protocol.slice(0, -1))) &&
    fitsExactly(host, spelled(parsed.host)) &&
    fitsExactly(path, spelled(`${parsed.pathname}${parsed.search}`))
  );
}

/** To some servers it is one, and then the path leads elsewhere. */
const HIDDEN_SEPARATOR = /%2f|%5c/i;

/** For rules that deny or ask: what is no address may lead anywhere, and escapes are read. */
export function fitsUrlWidely({ scheme, host, path }: UrlPattern, url: string): boolean {
  const parsed = parseUrl(url);
  if (parsed === undefined) return true;
  const hosts = [parsed.host, parsed.hostname, parsed.hostname.replace(/\.$/, "")];
  const written = `${parsed.pathname}${parsed.search}`;
  return (
    fitsAnySpelling(scheme, spelled(parsed.protocol.slice(0, -1))) &&
    hosts.some((one) => fitsAnySpelling(host, spelled(one))) &&
    [written, unescaped(written), parsed.pathname].some((one) =>
      fitsAnySpelling(path, spelled(one)),
    )
  );
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
