import type { Duplex } from "node:stream";
import { toSpanlineError, SpanlineError } from "../../domain/errors.ts";
import {
  deriveRequests,
  REQUEST_METHODS,
  type MethodResult,
  type RequestMethod,
} from "../session-methods.ts";
import type { Sessions } from "../sessions.ts";
import type { EventBatch } from "../../store/log-store.ts";
import type { SessionChanges } from "../../store/session-index.ts";
import {
  isOwnerMessage,
  type CallMessage,
  type ClientMessage,
  type OwnerMessage,
  type StreamItem,
  type StreamMessage,
} from "./owner-messages.ts";
import { createJsonLineSocket, type JsonLineSocket } from "./json-line-socket.ts";
import { OwnerGoneError } from "./owner-connection.ts";

/** The owner's sessions over a single connection. */
export interface RemoteSessions extends Sessions {
  /** Aborted when the connection closes. */
  readonly closed: AbortSignal;
  close(): void;
}

export interface ConnectOptions {
  readonly token: string;
  readonly version: string;
}

/** Connects to the owner. Throws `access_denied` if the owner refuses. */
export async function connectToOwner(
  socket: Duplex,
  options: ConnectOptions,
): Promise<RemoteSessions> {
  const lines = createJsonLineSocket(socket);
  const values = lines.readValues()[Symbol.asyncIterator]();
  lines.send({ type: "hello", ...options } satisfies ClientMessage);
  const { agents } = await readWelcome(lines, values);
  const requests = new OwnerRequests(lines);
  void requests.listen(values);
  return {
    agents,
    closed: requests.closed,
    close: () => lines.close(),
    ...deriveRequests(REQUEST_METHODS, (name, args) =>
      requests.call(name, ...dropMissingEnd(args)),
    ),
    /**
     * Three requests in sequence: the prompt is created here, but depends on the agent's capabilities known to the
     * owner.
     */
    async openWithPrompt(args, { sender, createPrompt }) {
      const record = await requests.call("open", args);
      const { principal, label = null } = args;
      if (record.principal !== principal.id || record.label !== label) return record;
      const { agent } = await requests.call("status", record.sessionId);
      const reply = await requests.call("command", record.sessionId, createPrompt(agent), sender);
      return { ...record, reply };
    },
    subscribe: (sessionId, cursor, signal) =>
      requests.stream<EventBatch>({ type: "subscribe", sessionId, cursor: cursor ?? null }, signal),
    watchSessions: (signal) => requests.stream<SessionChanges>({ type: "watch" }, signal),
  };
}

async function readWelcome(
  lines: JsonLineSocket,
  values: AsyncIterator<unknown>,
): Promise<Extract<OwnerMessage, { readonly type: "welcome" }>> {
  const { value: first }: IteratorResult<unknown, unknown> = await values.next();
  if (isOwnerMessage(first) && first.type === "welcome") return first;
  lines.close();
  if (isOwnerMessage(first) && first.type === "refused") {
    throw new SpanlineError("access_denied", first.message);
  }
  throw new OwnerGoneError("The owner left before it answered");
}

/** Drops a missing optional last argument: JSON would turn undefined into null. */
function dropMissingEnd<Args extends readonly unknown[]>(args: Args): Args {
  if (args.length === 0 || args.at(-1) !== undefined) return args;
  return args.slice(0, -1) as readonly unknown[] as Args;
}

/** A message before its id is known. */
type WithoutId<Message> = Message extends unknown ? Omit<Message, "id"> : never;

/** The open requests and streams of one connection. */
class OwnerRequests {
  readonly #lines: JsonLineSocket;
  readonly #closed = new AbortController();
  readonly #waiting = new Map<number, PendingRequest>();
  #lastId = 0;

  constructor(lines: JsonLineSocket) {
    this.#lines = lines;
  }

  /** Aborted when the connection closes. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Receives messages until the connection closes. Open requests then fail. */
  async listen(values: AsyncIterator<unknown>): Promise<void> {
    for (let next = await values.next(); next.done !== true; next = await values.next()) {
      if (isOwnerMessage(next.value)) receiveMessage(next.value, this.#waiting);
    }
    this.#closed.abort();
    for (const { reject } of this.#waiting.values()) reject(createOwnerGoneError());
    this.#waiting.clear();
  }

  call<Name extends RequestMethod>(
    method: Name,
    ...params: Parameters<Sessions[Name]>
  ): Promise<MethodResult<Name>> {
    const id = this.#createId();
    return new Promise((resolve, reject) => {
      if (this.closed.aborted) return reject(createOwnerGoneError());
      // The cast is safe, because the owner runs the same program. JSON turns undefined into null.
      this.#waiting.set(id, {
        resolve: (value) => resolve((value ?? undefined) as MethodResult<Name>),
        reject,
      });
      const message: CallMessage<Name> = { type: "call", id, method, params };
      this.#lines.send(message);
    });
  }

  async *stream<Item extends StreamItem>(
    start: WithoutId<StreamMessage>,
    signal: AbortSignal,
  ): AsyncGenerator<Item> {
    const id = this.#createId();
    const items = new StreamQueue<Item>();
    if (this.closed.aborted) throw createOwnerGoneError();
    this.#waiting.set(id, {
      resolve: () => items.end(),
      reject: (error) => items.end(error),
      // The cast is safe, because the owner runs the same program.
      onItem: (item) => items.add(item as Item),
    });
    // Unsubscribes at once: a command sent next must not count this caller as a reader.
    const stop = (): void => {
      this.#send({ type: "unsubscribe", id });
      items.end();
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#send({ ...start, id });
    try {
      for (;;) {
        const item = await items.take(signal);
        if (item === undefined) return;
        yield item;
        this.#send({ type: "taken", id });
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.#waiting.delete(id);
      this.#send({ type: "unsubscribe", id });
    }
  }

  #createId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #send(message: ClientMessage): void {
    this.#lines.send(message);
  }
}

interface PendingRequest {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onItem?: (item: StreamItem) => void;
}

function receiveMessage(message: OwnerMessage, waiting: Map<number, PendingRequest>): void {
  if (message.type === "welcome" || message.type === "refused") return;
  const waiter = waiting.get(message.id);
  switch (message.type) {
    case "item":
      return waiter?.onItem?.(message.item);
    case "result":
      waiting.delete(message.id);
      return waiter?.resolve(message.value);
    case "error":
      waiting.delete(message.id);
      return waiter?.reject(toSpanlineError(message.failure));
    default:
      message satisfies never;
  }
}

/** Items of a stream which have arrived and were not taken yet. */
class StreamQueue<Item> {
  readonly #items: Item[] = [];
  #ending: { readonly error?: unknown } | undefined;
  #wake = (): void => undefined;

  add(item: Item): void {
    this.#items.push(item);
    this.#wake();
  }

  /** The first call decides how the stream ends. */
  end(error?: unknown): void {
    this.#ending ??= error === undefined ? {} : { error };
    this.#wake();
  }

  /** Resolves with undefined at the end of the stream and after an abort. Rejects if the stream failed. */
  async take(signal: AbortSignal): Promise<Item | undefined> {
    while (!signal.aborted) {
      const item = this.#items.shift();
      if (item !== undefined) return item;
      if (this.#ending?.error !== undefined) throw this.#ending.error;
      if (this.#ending !== undefined) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return undefined;
  }
}

function createOwnerGoneError(): OwnerGoneError {
  return new OwnerGoneError("The owner is gone");
}
