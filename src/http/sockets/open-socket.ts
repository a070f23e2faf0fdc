import type { WebSocket } from "ws";
import type { SteadyClock } from "../../platform/clock.ts";

/** A WebSocket as its handler sees it. */
export interface OpenSocket {
  /** What the client says, text by text. Ends when the client is gone. */
  readonly messages: AsyncIterable<string>;
  /** Resolves when there is room for more. What is sent to a client that is gone is forgotten. */
  readonly send: (text: string) => Promise<void>;
  /** Aborts when the connection is over, whoever ended it. */
  readonly disconnectSignal: AbortSignal;
  /** Aborts when the connection is as old as one may be. Its handler has a few seconds to say so. */
  readonly expirySignal: AbortSignal;
}

export interface SocketLimits {
  /** Of one text. */
  readonly messageBytes?: number;
  /** Texts that wait for the handler to read them. */
  readonly waitingTexts?: number;
  /** Bytes that wait for the client to read them; with more, `send` makes its caller wait. */
  readonly unsentBytes?: number;
  /** A client that takes nothing of what is there for it for so long is cut off. */
  readonly stalledMs?: number;
  /** How often a client is asked whether it is there. One that does not answer in the same time is cut off. */
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

/** Between saying that the time is over and closing. */
const CLOSING_MS = 5000;

/** How often the limit for unsent bytes may be exceeded by a sender that does not wait. */
const MAX_UNSENT_FACTOR = 16;

export interface SocketContext {
  readonly clock: SteadyClock;
  /** What answers a message that is no text. Without it, such a message ends the connection. */
  readonly binaryAnswer?: string;
  /** Answers a text at once, in place of the handler. Undefined for a text that the handler reads. */
  readonly instantAnswer?: (text: string) => string | undefined;
}

export function wrapSocket(
  socket: WebSocket,
  limits: Required<SocketLimits>,
  { clock, binaryAnswer, instantAnswer }: SocketContext,
): OpenSocket {
  const disconnectController = new AbortController();
  const expiryController = new AbortController();
  const texts = createMessageQueue(limits, () => socket.close(1008, "Too many messages wait"));
  const stop = [
    startPinging(socket, limits.pingMs, clock),
    clock.schedule(limits.ageMs, () => {
      expiryController.abort();
      stop.push(clock.schedule(CLOSING_MS, () => closeSocket(socket, clock, "Too old")));
    }),
  ];
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  // An error is followed by a close, with the code that it calls for.
  socket.on("error", () => {});
  socket.on("close", () => {
    for (const callOff of stop) callOff();
    texts.end();
    disconnectController.abort(new Error("The client is gone"));
  });
  // A client that sends and never reads would fill the memory with answers.
  const answer = (text: string): void => {
    if (socket.bufferedAmount > limits.unsentBytes) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.send(text);
  };
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    if (isBinary) {
      if (binaryAnswer === undefined) socket.close(1003, "Only text is understood");
      else answer(binaryAnswer);
      return;
    }
    const text = data.toString();
    const instant = instantAnswer?.(text);
    if (instant === undefined) texts.add(text);
    else answer(instant);
  });
  // Answered here, for the same reason.
  socket.on("ping", (data: Buffer) => {
    if (socket.bufferedAmount > limits.unsentBytes) socket.terminate();
    else if (socket.readyState === socket.OPEN) socket.pong(data);
  });
  const send = (text: string): Promise<void> => sendText(socket, text, { limits, clock, closed });
  return {
    messages: texts.messages,
    send,
    disconnectSignal: disconnectController.signal,
    expirySignal: expiryController.signal,
  };
}

/** Says goodbye, and ends the connection of a client that does not answer. */
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

/** Behind the end it waits until everybody knows of it: a handler that sends until then would never let that happen. */
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
    // Called when the system took it, or when the connection broke before.
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
