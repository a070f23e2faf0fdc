import { isAnyAddress, isLocalName } from "../access/any-address.ts";
import { readHeader } from "../routing/read-header.ts";
import { formatUrlHost, parseHostName } from "../access/host-name.ts";
import type { Refusal, HeaderField } from "./http-types.ts";
import type { ServerOptions } from "./server-options.ts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Explains why a request may come from a web page rather than from a program of this machine's user. Undefined if the
 * request is acceptable.
 *
 * A page can point its own host name at the loopback address (DNS rebinding) and can post across origins. The first
 * attack shows in `Host`, the second in `Origin`.
 */
export function explainForeignRequest(
  headers: readonly HeaderField[],
  options: Pick<ServerOptions, "host" | "allowedHosts" | "allowedOrigins">,
): Pick<Refusal, "message" | "setting"> | undefined {
  const host = readHeader({ headers }, "host") ?? "";
  const name = parseHostName(host);
  if (name === undefined || !isServedHost(name, options)) {
    const message = `The Host header names "${host}", which is not a host of this server`;
    return { message, ...(name !== undefined && { setting: ["allowedHosts", name] }) };
  }
  const origin = readHeader({ headers }, "origin");
  const { allowedOrigins = [] } = options;
  if (origin !== undefined && origin !== `http://${host}` && !allowedOrigins.includes(origin)) {
    const message = `The request comes from a page of "${origin}", which may not call this server`;
    return { message, setting: ["allowedOrigins", origin] };
  }
  return undefined;
}

function isServedHost(
  name: string,
  { host, allowedHosts = [] }: Pick<ServerOptions, "host" | "allowedHosts">,
): boolean {
  const bound = parseHostName(formatUrlHost(host)) ?? host;
  if ([...LOOPBACK_NAMES, bound, ...allowedHosts].includes(name)) return true;
  return isAnyAddress(host) && isLocalName(name);
}
