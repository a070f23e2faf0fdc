import { type ServerResponse, STATUS_CODES } from "node:http";
import { createChunkWriter, createPlainWriter, type ChunkWriter } from "./chunk-writer.ts";
import type { StreamPace, ServedResponse } from "./http-types.ts";
import type { Clock } from "../../platform/clock.ts";

export interface SendOptions {
  /** A client which reads none of a complete response for this long is disconnected. */
  readonly stalledMs: number;
}

/**
 * Resolves when all bytes were handed to the socket, or when the client has disconnected. Rejects with any error thrown
 * by the body.
 */
export async function sendResponse(
  outgoing: ServerResponse,
  { status, headers, body, pace }: ServedResponse,
  { stalledMs }: SendOptions,
): Promise<void> {
  if (body instanceof Uint8Array) {
    const length =
      status === 204 || status === 304 ? {} : { "content-length": String(body.length) };
    outgoing.writeHead(status, { ...headers, ...length });
    // Streamed bodies have their own stall timer (`StreamPace`).
    outgoing.setTimeout(stalledMs, () => outgoing.socket?.resetAndDestroy());
    outgoing.end(body);
    return;
  }
  outgoing.writeHead(status, { ...headers });
  // A response without `pace` gets no batching: each piece is sent unchanged.
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
 * The kernel buffers megabytes and reports progress only after a large part was read. Even a slow reader reaches the
 * next report within 5 minutes.
 */
export const DEFAULT_STALLED_MS = 300_000;

/** The stall timer runs only while bytes are pending. Waiting for the next piece of the body is not a stall. */
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

/**
 * Encodes a complete response for a raw socket, where Node has no `ServerResponse`. The response closes the connection.
 */
export function encodeRawResponse({ status, headers, body }: ServedResponse): Buffer {
  const content = body instanceof Uint8Array ? body : new Uint8Array();
  const fields = { ...headers, "content-length": String(content.length), connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), content]);
}

/** A restartable timeout: calls `onTimeout` when the time between `begin` and `end` exceeds the limit. */
interface IdleTimer {
  begin(): void;
  end(): void;
  /** Cancels the timer for good. `begin` must not be called again. */
  stop(): void;
}

/**
 * Uses one scheduled callback for all periods, which compares times when it fires. Scheduling and cancelling a callback
 * for each event would cost a stream as much as writing the event.
 */
function createIdleTimer(clock: Clock, milliseconds: number, onTimeout: () => void): IdleTimer {
  let since: number | undefined;
  let callOff: (() => void) | undefined;
  const set = (wait: number): void => {
    callOff = clock.schedule(wait, ring);
  };
  const ring = (): void => {
    callOff = undefined;
    if (since === undefined) return;
    // A clock set back counts as zero elapsed time.
    const elapsedMs = Math.max(0, clock.now() - since);
    if (elapsedMs < milliseconds) return set(milliseconds - elapsedMs);
    since = undefined;
    onTimeout();
  };
  return {
    begin() {
      since = clock.now();
      if (callOff === undefined) set(milliseconds);
    },
    end: () => void (since = undefined),
    stop() {
      since = undefined;
      callOff?.();
    },
  };
}
