import type { Timer } from "../../async/invocation-guard.ts";
import { createItemQueue } from "../../async/item-queue.ts";
import { waitWithTimeout } from "../../async/pause.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { systemClock } from "../../platform/clock.ts";
import { MAX_LINE_BYTES } from "../../wire/jsonrpc/rpc-connection.ts";
import type { Incoming, Transport } from "./transport.ts";

/** The used part of a WebSocket: the browser's, Node's, or the package `ws`. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "open" | "close" | "error", listener: (event: object) => void): void;
}

export interface WebSocketOptions {
  /** Characters. Longer messages are skipped. Default: 16 Mi. */
  readonly maxMessageCharacters?: number;
  /** Milliseconds to wait for the open event. Default: 30 s. */
  readonly openTimeoutMs?: number;
  readonly clock?: Timer;
}

/**
 * A transport over a WebSocket, with a message per text frame. An address is opened with the global `WebSocket`. Where
 * the global is missing, or headers are needed, pass an open socket.
 */
export async function connectWebSocket(
  target: string | URL | WebSocketLike,
  options: WebSocketOptions = {},
): Promise<Transport> {
  const { maxMessageCharacters = MAX_LINE_BYTES } = options;
  const socket = typeof target === "string" || target instanceof URL ? openSocket(target) : target;
  const messages = createSocketMessages(socket, maxMessageCharacters);
  await waitForOpen(socket, options);
  messages.endWithSocket();

  return {
    incoming: messages.incoming(),
    send(line) {
      if (socket.readyState !== OPEN) return;
      if (socket.bufferedAmount > MAX_WAITING_CHARACTERS) messages.closeUnread();
      else socket.send(line.trimEnd());
    },
    ready: () => Promise.resolve(),
    close() {
      socket.close();
      // A socket whose other side is gone closes late or never.
      messages.end();
    },
    mayStall: true,
  };
}

/** The messages of a socket, queued until they are read. */
function createSocketMessages(socket: WebSocketLike, maxMessageCharacters: number) {
  const queue = createItemQueue<Incoming>(() => socket.close());
  let waitingCharacters = 0;
  /** Whether this side caused the end. */
  let isOurs = false;

  function skipMessage(reason: string, start = ""): void {
    queue.push({ type: "passed-over", reason, ...(start !== "" && { start }) });
  }

  /** WebSockets have no backpressure, so a connection with too much unread data is closed to limit memory. */
  function closeUnread(): void {
    isOurs = true;
    socket.close(CLOSE_TOO_BIG, "too much unread data");
  }

  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return skipMessage("A message is not text");
    if (data.length > maxMessageCharacters) {
      const maxCharacters = maxMessageCharacters;
      const reason = `A message has ${data.length} characters, more than ${maxCharacters}`;
      return skipMessage(reason, data.slice(0, START_CHARACTERS));
    }
    waitingCharacters += data.length;
    if (waitingCharacters > MAX_WAITING_CHARACTERS) return closeUnread();
    queue.push({ type: "line", text: data });
  });
  // The package "ws" throws unhandled error events. It also emits an error for messages over its own limit, before
  // closing.
  socket.addEventListener("error", () => void (isOurs = true));

  return {
    async *incoming(): AsyncGenerator<Incoming, void, undefined> {
      for await (const item of queue) {
        if (item.type === "line") waitingCharacters -= item.text.length;
        yield item;
      }
    },
    closeUnread,
    end: (): void => queue.end(),
    /** Ends the messages when the socket closes. */
    endWithSocket(): void {
      socket.addEventListener("close", (event) => {
        const isTooBig = !isOurs && "code" in event && event.code === CLOSE_TOO_BIG;
        queue.end(isTooBig ? new SpanlineError("invalid_message", MESSAGE_TOO_LARGE) : undefined);
      });
      if (socket.readyState > OPEN) queue.end();
    },
  };
}

function openSocket(address: string | URL): WebSocketLike {
  const WebSocket: unknown = Reflect.get(globalThis, "WebSocket");
  if (typeof WebSocket !== "function") {
    throw new SpanlineError(
      "invalid_option",
      'The global WebSocket is missing. Fix: pass a socket, for example of the package "ws"',
    );
  }
  return Reflect.construct(WebSocket, [String(address)]) as WebSocketLike;
}

async function waitForOpen(
  socket: WebSocketLike,
  { openTimeoutMs = DEFAULT_OPEN_TIMEOUT_MS, clock = systemClock }: WebSocketOptions,
): Promise<void> {
  if (socket.readyState === OPEN) return;
  const isOpen = new Promise<void>((resolve, reject) => {
    const fail = (event: object): void => {
      const why = "message" in event ? event.message : "reason" in event && event.reason;
      reject(createOpenError(typeof why === "string" ? why : ""));
    };
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", fail);
    socket.addEventListener("close", fail);
    if (socket.readyState > OPEN) fail({});
  });
  if ((await waitWithTimeout(clock, openTimeoutMs, isOpen)) !== "late") return;
  socket.close();
  throw createOpenError(`timeout after ${openTimeoutMs} ms`);
}

function createOpenError(why: string): SpanlineError {
  const reason = why === "" ? "" : `: ${why}`;
  return new SpanlineError("connect_failed", `The WebSocket could not be opened${reason}`);
}

const DEFAULT_OPEN_TIMEOUT_MS = 30_000;
const OPEN = 1;
/** RFC 6455: the message is too big. */
const CLOSE_TOO_BIG = 1009;
/** Characters, queued in either direction. */
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024;
const MESSAGE_TOO_LARGE = "The other side closed the connection because a message was too large";

/** Characters. Enough for the members before the content of a message. */
const START_CHARACTERS = 4096;
