import { itemQueue } from "../../async/item-queue.ts";
import { SpanlineError } from "../../domain/errors.ts";
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
}

/**
 * An agent behind a WebSocket, one message to a text. Given an address, the global `WebSocket` connects to it; where there
 * is none, or it needs headers, the caller hands in a socket of its own.
 */
export async function webSocket(
  target: string | URL | WebSocketLike,
  { maxMessageCharacters = MAX_LINE_BYTES }: WebSocketOptions = {},
): Promise<Transport> {
  const socket = typeof target === "string" || target instanceof URL ? connectTo(target) : target;
  const incoming = itemQueue<Incoming>(() => socket.close());
  let waiting = 0;

  socket.addEventListener("message", ({ data }) => {
    if (typeof data !== "string") return;
    if (data.length > maxMessageCharacters) {
      const reason = `A message has ${data.length} characters, more than ${maxMessageCharacters}`;
      return void incoming.push({ type: "passed-over", reason });
    }
    waiting += data.length;
    // Nothing tells the other side to wait: rather none of it than all of the memory.
    if (waiting > MOST_WAITING) return socket.close(TOO_BIG, "too much is unread");
    incoming.push({ type: "line", text: data });
  });
  await opened(socket);
  socket.addEventListener("close", () => incoming.end());
  if (socket.readyState > OPEN) incoming.end();

  async function* counted(): AsyncGenerator<Incoming, void, undefined> {
    for await (const item of incoming) {
      if (item.type === "line") waiting -= item.text.length;
      yield item;
    }
  }

  return {
    incoming: counted(),
    send(line) {
      if (socket.readyState !== OPEN) return;
      if (socket.bufferedAmount > MOST_WAITING) socket.close(TOO_BIG, "too much is unread");
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

function connectTo(address: string | URL): WebSocketLike {
  const WebSocket: unknown = Reflect.get(globalThis, "WebSocket");
  if (typeof WebSocket !== "function") {
    throw new SpanlineError(
      "invalid_option",
      'There is no global WebSocket here; hand in a socket, such as one of the package "ws"',
    );
  }
  return Reflect.construct(WebSocket, [String(address)]) as WebSocketLike;
}

function opened(socket: WebSocketLike): Promise<void> {
  if (socket.readyState === OPEN) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const fail = (event: object): void => {
      const why = "message" in event ? event.message : "reason" in event && event.reason;
      const said = typeof why === "string" && why !== "" ? `: ${why}` : "";
      reject(new SpanlineError("connect_failed", `The WebSocket could not be opened${said}`));
    };
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", fail);
    socket.addEventListener("close", fail);
    if (socket.readyState > OPEN) fail({});
  });
}

const OPEN = 1;
/** Of RFC 6455: a message is too big. */
const TOO_BIG = 1009;
/** Characters. */
const MOST_WAITING = 64 * 1024 * 1024;
