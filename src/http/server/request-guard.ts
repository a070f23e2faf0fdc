import type { IncomingMessage } from "node:http";
import { explainForeignRequest } from "./foreign-request.ts";
import type { Refusal, HeaderField, RequestHead } from "./http-types.ts";
import { readRequestId } from "../routing/http-request-id.ts";
import type { ServerOptions } from "./server-options.ts";

/** Reads everything before the body, unchanged except for lowercase header names. */
export function readRequestHead(
  incoming: IncomingMessage,
  { newRequestId }: Pick<ServerOptions, "newRequestId">,
): RequestHead {
  const headers = readHeaderFields(incoming.rawHeaders);
  const { method = "GET", url: target = "" } = incoming;
  const [path = "", query = ""] = splitOnce(target, "?");
  const requestId = newRequestId === undefined ? "" : readRequestId(headers, newRequestId);
  return { requestId, method, path, query, headers };
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
