import { STATUS_CODES } from "node:http";
import type { ServedResponse } from "./http-types.ts";

/** A whole answer as bytes, for a connection that node has no answer to fill in for. It is the connection's last. */
export function encodeRawResponse({ status, headers, body }: ServedResponse): Buffer {
  const content = body instanceof Uint8Array ? body : new Uint8Array();
  const fields = { ...headers, "content-length": String(content.length), connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), content]);
}
