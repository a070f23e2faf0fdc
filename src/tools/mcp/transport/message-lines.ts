import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { isObject, parseJson } from "../../../data/json.ts";

export interface LineHandlers {
  onMessage(message: JSONRPCMessage): void;
  /** A line which is not a message. */
  onJunk(line: string): void;
  /** A line exceeds the limit. Reading ends. */
  onTooLong(): void;
}

/** Splits a server's output into lines, each a JSON-RPC message. Returns the number of complete lines in the chunk. */
export function createMessageLines(
  maxBytes: number,
  handlers: LineHandlers,
): (chunk: Uint8Array) => number {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let isOver = false;
  /** Returns false if the line exceeds the limit. */
  const append = (piece: Uint8Array): boolean => {
    size += piece.length;
    pieces.push(piece);
    isOver = size > maxBytes;
    if (isOver) {
      pieces = [];
      handlers.onTooLong();
    }
    return !isOver;
  };
  return (chunk) => {
    if (isOver) return 0;
    let lines = 0;
    let at = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      if (!append(chunk.subarray(at, end))) return lines;
      const line = Buffer.concat(pieces, size).toString("utf8");
      pieces = [];
      size = 0;
      at = end + 1;
      lines += 1;
      handleLine(line, handlers);
    }
    if (at < chunk.length) append(chunk.subarray(at));
    return lines;
  };
}

const NEWLINE = 0x0a;

function handleLine(line: string, handlers: LineHandlers): void {
  if (line.trim() === "") return;
  const parsed = parseJson(line);
  const messages: unknown[] = parsed.ok ? [parsed.value].flat() : [];
  if (messages.length === 0 || !messages.every(isMessage)) return handlers.onJunk(line);
  for (const message of messages) handlers.onMessage(message);
}

/** Whether the SDK accepts a value as a message. The SDK validates its contents. */
function isMessage(value: unknown): value is JSONRPCMessage {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  const { id, method, params, result, error } = value;
  const hasId = typeof id === "string" || typeof id === "number";
  if (typeof method === "string") {
    return (id === undefined || hasId) && (params === undefined || isObject(params));
  }
  if (isObject(error)) {
    return typeof error["code"] === "number" && typeof error["message"] === "string";
  }
  return hasId && isObject(result);
}
