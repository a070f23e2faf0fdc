import { type ServerResponse, STATUS_CODES } from "node:http";
import { createChunkWriter, createPlainWriter, type ChunkWriter } from "./chunk-writer.ts";
import type { StreamPace, ServedResponse } from "./http-types.ts";
import { createIdleTimer } from "./idle-timer.ts";

export interface SendOptions {
  /** A client that takes nothing of a whole answer for so long is cut off. */
  readonly stalledMs: number;
}

/** Resolves when all was handed over or the client is gone. What the body throws, it throws too. */
export async function sendResponse(
  outgoing: ServerResponse,
  { status, headers, body, pace }: ServedResponse,
  { stalledMs }: SendOptions,
): Promise<void> {
  if (body instanceof Uint8Array) {
    const length = status === 204 ? {} : { "content-length": String(body.length) };
    outgoing.writeHead(status, { ...headers, ...length });
    // Whoever sends in pieces knows itself how long it waits.
    outgoing.setTimeout(stalledMs, () => outgoing.socket?.resetAndDestroy());
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, { ...headers });
  // Who says nothing of their pace wants each piece to go as it is.
  const sink = pace === undefined ? createPlainWriter(outgoing) : createChunkWriter(outgoing);
  sink.open();
  const timers = pace === undefined ? UNTIMED : createTimers(outgoing, sink, pace);
  const pieces = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      timers.quiet.begin();
      const { done, value } = await pieces.next();
      timers.quiet.end();
      if (outgoing.destroyed) return;
      if (done === true) break;
      if (sink.write(value)) continue;
      timers.stalled.begin();
      await sink.waitForDrain();
      timers.stalled.end();
      if (outgoing.destroyed) return;
    }
    outgoing.end();
  } finally {
    timers.quiet.stop();
    timers.stalled.stop();
    sink.flush();
    await pieces.return?.();
  }
}

/**
 * A system that has megabytes in its own buffers says so only when a good part of them was read: in this time, also a slow
 * reader has got there.
 */
export const DEFAULT_STALLED_MS = 300_000;

/** Waiting for a piece is not stalling: that time runs only while there is something to take. */
function createTimers(
  outgoing: ServerResponse,
  sink: ChunkWriter,
  { clock, stalledMs = DEFAULT_STALLED_MS, heartbeat }: StreamPace,
) {
  const stalled = createIdleTimer(clock, stalledMs, () => outgoing.socket?.resetAndDestroy());
  if (heartbeat === undefined) return { quiet: UNTIMED.quiet, stalled };
  const quiet = createIdleTimer(clock, heartbeat.everyMs, () => {
    if (outgoing.destroyed) return;
    sink.write(heartbeat.piece);
    quiet.begin();
  });
  return { quiet, stalled };
}

const NO_TIMER = { begin: () => {}, end: () => {}, stop: () => {} };
const UNTIMED = { quiet: NO_TIMER, stalled: NO_TIMER };

/** A whole answer as bytes, for a connection that node has no answer to fill in for. It is the connection's last. */
export function encodeRawResponse({ status, headers, body }: ServedResponse): Buffer {
  const content = body instanceof Uint8Array ? body : new Uint8Array();
  const fields = { ...headers, "content-length": String(content.length), connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), content]);
}
