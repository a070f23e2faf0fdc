import type { Timer } from "../../async/invocation-guard.ts";
import { createItemQueue } from "../../async/item-queue.ts";
import { waitWithTimeout } from "../../async/pause.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { systemClock } from "../../platform/clock.ts";
import { MAX_LINE_BYTES } from "../../wire/jsonrpc/rpc-connection.ts";
import type { Incoming, Transport } from "./transport.ts";

/** What is used of a WebSocket: the browser's, Node's, or that of the package `ws`. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "open" | "close" | "error", listener: (event: object) => void): void;
}

export interface WebSocketOptions {
  /** A longer message is passed over. */
  readonly maxMessageCharacters?: number;
  /** How long it may take to open. */
  readonly openTimeoutMs?: number;
  readonly clock?: Timer;
}

/**
 * An agent behind a WebSocket, one message to a text. Given an address, the global `WebSocket` connects to it; where there
 * is none, or it needs headers, the caller hands in a socket of its own.
 */
export async function connectWebSocket(
  target: string | URL | WebSocketLike,
  options: WebSocketOptions = {},
): Promise<Transport> {
  const { maxMessageCharacters = MAX_LINE_BYTES } = options;
  const socket = typeof target === "string" || target instanceof URL ? openSocket(target) : target;
  const incoming = createItemQueue<Incoming>(() => socket.close());
  let waitingCharacters = 0;
  /** Whether it ends for a reason of this side. */
  let isOurs = false;

  function skipMessage(reason: string, start = ""): void {
    incoming.push({ type: "passed-over", reason, ...(start !== "" && { start }) });
  }

  /** Nothing tells the other side to wait: rather none of it than all of the memory. */
  function closeUnread(): void {
    isOurs = true;
    socket.close(CLOSE_TOO_BIG, "too much is unread");
  }

  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return skipMessage("A message is no text");
    if (data.length > maxMessageCharacters) {
      const maxCharacters = maxMessageCharacters;
      const reason = `A message has ${data.length} characters, more than ${maxCharacters}`;
      return skipMessage(reason, data.slice(0, START_CHARACTERS));
    }
    waitingCharacters += data.length;
    if (waitingCharacters > MAX_WAITING_CHARACTERS) return closeUnread();
    incoming.push({ type: "line", text: data });
  });
  // The package "ws" throws what nobody listens to. It says so, too, of what is too large for its own end, before it closes.
  socket.addEventListener("error", () => void (isOurs = true));
  await waitForOpen(socket, options);
  socket.addEventListener("close", (event) => {
    const isTooBig = !isOurs && "code" in event && event.code === CLOSE_TOO_BIG;
    incoming.end(isTooBig ? new SpanlineError("invalid_message", MESSAGE_TOO_LARGE) : undefined);
  });
  if (socket.readyState > OPEN) incoming.end();

  async function* countIncoming(): AsyncGenerator<Incoming, void, undefined> {
    for await (const item of incoming) {
      if (item.type === "line") waitingCharacters -= item.text.length;
      yield item;
    }
  }

  return {
    incoming: countIncoming(),
    send(line) {
      if (socket.readyState !== OPEN) return;
      if (socket.bufferedAmount > MAX_WAITING_CHARACTERS) closeUnread();
      else socket.send(line.trimEnd());
    },
    ready: () => Promise.resolve(),
    close() {
      socket.close();
      // One whose other side is gone closes late, or never.
      incoming.end();
    },
    mayStall: true,
  };
}

function openSocket(address: string | URL): WebSocketLike {
  const WebSocket: unknown = Reflect.get(globalThis, "WebSocket");
  if (typeof WebSocket !== "function") {
    throw new SpanlineError(
      "invalid_option",
      'There is no global WebSocket here; hand in a socket, such as one of the package "ws"',
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
  throw createOpenError(`it took longer than ${openTimeoutMs} ms`);
}

function createOpenError(why: string): SpanlineError {
  const reason = why === "" ? "" : `: ${why}`;
  return new SpanlineError("connect_failed", `The WebSocket could not be opened${reason}`);
}

const DEFAULT_OPEN_TIMEOUT_MS = 30_000;
const OPEN = 1;
/** Of RFC 6455: a message is too big. */
const CLOSE_TOO_BIG = 1009;
/** Characters. */
const MAX_WAITING_CHARACTERS = 64 * 1024 * 1024;
const MESSAGE_TOO_LARGE =
  "The other side ended the connection, since a message was too large for it";

/** Enough for the members that stand before the content of a message. */
const START_CHARACTERS = 4096;
