import type { WebSocket } from "ws";
import type { SteadyClock } from "../../platform/clock.ts";

/** A WebSocket as seen by its handler. */
export interface OpenSocket {
  /** Text messages from the client. Ends when the client disconnects. */
  readonly messages: AsyncIterable<string>;
  /** Messages which must not wait for earlier messages, in a queue of their own with the same limits. */
  readonly urgentMessages: AsyncIterable<string>;
  /** Resolves when more may be sent (backpressure). Messages to a disconnected client are discarded. */
  readonly send: (text: string) => Promise<void>;
  /** Aborts when the connection has closed, from either side. */
  readonly disconnectSignal: AbortSignal;
  /** Aborts when the connection reaches `ageMs`. The handler then has 5 seconds to send a last message. */
  readonly expirySignal: AbortSignal;
}

export interface SocketLimits {
  /** Bytes of one message. Default: 4,000,000. */
  readonly messageBytes?: number;
  /**
   * Received messages not yet read by the handler. Default: 32. The connection is closed with code 1008 beyond the
   * limit.
   */
  readonly waitingTexts?: number;
  /** Bytes sent but not yet read by the client. Default: 1,000,000. Beyond the limit, `send` makes its caller wait. */
  readonly unsentBytes?: number;
  /** A client which accepts no pending bytes for this long is disconnected. Default: 60 s. */
  readonly stalledMs?: number;
  /** Interval between pings. A client with no sign of life for a whole interval is disconnected. Default: 30 s. */
  readonly pingMs?: number;
  readonly ageMs?: number;
}

export const SOCKET_LIMITS: Required<SocketLimits> = {
  messageBytes: 4_000_000,
  waitingTexts: 32,
  unsentBytes: 1_000_000,
  stalledMs: 60_000,
  pingMs: 30_000,
  ageMs: 3_600_000,
};

/** Milliseconds between the expiry signal (or the close frame) and the end of the connection. */
const CLOSING_MS = 5000;

/** Multiple of `unsentBytes` at which a connection whose sender ignores backpressure is terminated. */
const MAX_UNSENT_FACTOR = 16;

export interface SocketContext {
  readonly clock: SteadyClock;
  /** The response to a binary message. Undefined: a binary message closes the connection with code 1003. */
  readonly binaryAnswer?: string;
  /** Whether the handler must not delay a message. Default: no message is urgent. */
  readonly isUrgent?: (text: string) => boolean;
}

export function wrapSocket(
  socket: WebSocket,
  limits: Required<SocketLimits>,
  { clock, binaryAnswer, isUrgent = () => false }: SocketContext,
): OpenSocket {
  const disconnectController = new AbortController();
  const expiryController = new AbortController();
  const closeFlooded = (): void => socket.close(1008, "Too many messages wait");
  const texts = createMessageQueue(limits, closeFlooded);
  const urgentTexts = createMessageQueue(limits, closeFlooded);
  const stop = [
    startPinging(socket, limits.pingMs, clock),
    clock.schedule(limits.ageMs, () => {
      expiryController.abort();
      stop.push(clock.schedule(CLOSING_MS, () => closeSocket(socket, clock, "Too old")));
    }),
  ];
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  // A `close` event with the matching code always follows an error.
  socket.on("error", () => {});
  socket.on("close", () => {
    for (const callOff of stop) callOff();
    texts.end();
    urgentTexts.end();
    disconnectController.abort(new Error("The client is gone"));
  });
  // Terminates the connection of a client which sends without reading: the responses would fill the memory.
  const answer = (text: string): void => {
    if (socket.bufferedAmount > limits.unsentBytes) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(text);
  };
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      if (binaryAnswer === undefined) socket.close(1003, "Only text messages are supported");
      else answer(binaryAnswer);
      return;
    }
    const text = data.toString();
    (isUrgent(text) ? urgentTexts : texts).add(text);
  });
  // Pongs are sent here instead of by the library, with the same memory check.
  socket.on("ping", (data: Buffer) => {
    if (socket.bufferedAmount > limits.unsentBytes) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.pong(data);
  });
  const send = (text: string): Promise<void> => sendText(socket, text, { limits, clock, closed });
  return {
    messages: texts.messages,
    urgentMessages: urgentTexts.messages,
    send,
    disconnectSignal: disconnectController.signal,
    expirySignal: expiryController.signal,
  };
}

/** Sends a close frame, and terminates the connection if the client has not closed it after 5 seconds. */
export function closeSocket(socket: WebSocket, clock: SteadyClock, reason: string): void {
  socket.close(1001, reason);
  const callOff = clock.schedule(CLOSING_MS, () => socket.terminate());
  socket.on("close", callOff);
}

interface SendContext {
  readonly limits: Required<SocketLimits>;
  readonly clock: SteadyClock;
  readonly closed: Promise<void>;
}

/**
 * On a closing socket, resolves only after the close event: a handler which sends in a loop would otherwise starve the
 * event.
 */
function sendText(
  socket: WebSocket,
  text: string,
  { limits, clock, closed }: SendContext,
): Promise<void> {
  return new Promise((resolve) => {
    if (socket.bufferedAmount > limits.unsentBytes * MAX_UNSENT_FACTOR) socket.terminate();
    if (socket.readyState !== socket.OPEN) {
      resolve(closed);
      return;
    }
    const callOff = clock.schedule(limits.stalledMs, () => socket.terminate());
    // The callback runs when the system has accepted the bytes, or when the connection broke before.
    socket.send(text, () => {
      callOff();
      resolve();
    });
    if (socket.bufferedAmount <= limits.unsentBytes) resolve();
  });
}

function startPinging(socket: WebSocket, everyMs: number, clock: SteadyClock): () => void {
  let isAlive = true;
  let callOff: () => void = () => {};
  const markAlive = (): void => void (isAlive = true);
  for (const event of ["pong", "ping", "message"]) socket.on(event, markAlive);
  const ping = (): void => {
    if (!isAlive) {
      socket.terminate();
      return;
    }
    isAlive = false;
    if (socket.readyState === socket.OPEN) socket.ping();
    callOff = clock.schedule(everyMs, ping);
  };
  callOff = clock.schedule(everyMs, ping);
  return () => callOff();
}

interface MessageQueue {
  readonly messages: AsyncIterable<string>;
  add(text: string): void;
  end(): void;
}

function createMessageQueue(
  { waitingTexts: maxMessages, messageBytes }: Required<SocketLimits>,
  onTooMany: () => void,
): MessageQueue {
  const waiting: string[] = [];
  let length = 0;
  let isOver = false;
  let wake: () => void = () => {};
  async function* all(): AsyncGenerator<string> {
    for (;;) {
      const text = waiting.shift();
      if (text !== undefined) {
        length -= text.length;
        yield text;
      } else if (isOver) return;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  return {
    messages: all(),
    add(text) {
      if (isOver) return;
      waiting.push(text);
      length += text.length;
      if (waiting.length > maxMessages || length > 2 * messageBytes) {
        isOver = true;
        onTooMany();
      }
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
  };
}
