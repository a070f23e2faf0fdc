import type { IncomingMessage } from "node:http";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { Refusal, HeaderField, RequestHead } from "./http-types.ts";
import { readRequestId } from "../routing/http-request-id.ts";
import type { ServerOptions } from "./server-options.ts";
import { isAnyAddress, isLocalName } from "../access/any-address.ts";
import { readHeader } from "../routing/read-header.ts";
import { formatUrlHost, parseHostName } from "../access/host-name.ts";

/** Reads everything before the body, unchanged except for lowercase header names. */
export function readRequestHead(
  incoming: IncomingMessage,
  { newRequestId }: Pick<ServerOptions, "newRequestId">,
): RequestHead {
  const headers = readHeaderFields(incoming.rawHeaders);
  const { method = "GET", url: target = "" } = incoming;
  const [path = "", query = ""] = splitOnce(target, "?");
  const requestId = newRequestId === undefined ? "" : readRequestId(headers, newRequestId);
  const { remoteAddress } = incoming.socket;
  return { requestId, method, path, query, headers, ...omitUndefined({ remoteAddress }) };
}

/** Why the request is refused; undefined if the request is acceptable. */
export function checkRequest(
  { headers, path }: RequestHead,
  options: ServerOptions,
): Refusal | undefined {
  const foreign = explainForeignRequest(headers, options);
  if (foreign !== undefined) return { status: 403, ...foreign, path };
  if (path.startsWith("/")) return undefined;
  return { status: 400, message: "The request target is not a path", path: "" };
}

function readHeaderFields(raw: readonly string[]): HeaderField[] {
  const fields: HeaderField[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    fields.push([(raw[at] ?? "").toLowerCase(), raw[at + 1] ?? ""]);
  }
  return fields;
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

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
