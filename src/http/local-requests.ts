import { headerOf } from "./header.ts";
import type { HeaderField } from "./served.ts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Says why a request may come from a web page and not from a program of this machine's user; undefined when it does not.
 *
 * A page can point a name of its own at the loopback address (DNS rebinding) and can post to it across origins. The first
 * shows in `Host`, the second in `Origin`.
 */
export function foreignReason(
  headers: readonly HeaderField[],
  allowedHosts: readonly string[],
  allowedOrigins: readonly string[],
): string | undefined {
  const host = headerOf({ headers }, "host") ?? "";
  const name = hostName(host);
  if (name === undefined || ![...LOOPBACK_NAMES, ...allowedHosts].includes(name)) {
    return `The Host header names "${host}", which this server does not answer for`;
  }
  const origin = headerOf({ headers }, "origin");
  if (origin !== undefined && origin !== `http://${host}` && !allowedOrigins.includes(origin)) {
    return `The request comes from a page of "${origin}", which may not call this server`;
  }
  return undefined;
}

/** The host without its port, as a URL spells it: lower case, IPv6 in brackets. Undefined when it is none. */
export function hostName(host: string): string | undefined {
  const url = `http://${host}`;
  return /^[^/?#@\\\s]+$/.test(host) && URL.canParse(url) ? new URL(url).hostname : undefined;
}
