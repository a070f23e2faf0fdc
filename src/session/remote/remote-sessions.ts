import type { Duplex } from "node:stream";
import type { Cursor } from "../../domain/events/envelope.ts";
import { toSpanlineError, SpanlineError } from "../../domain/errors.ts";
import {
  deriveRequests,
  REQUEST_METHODS,
  type MethodResult,
  type RequestMethod,
} from "../session-methods.ts";
import type { Sessions } from "../sessions.ts";
import type { EventBatch } from "../../store/log-store.ts";
import {
  isOwnerMessage,
  type CallMessage,
  type ClientMessage,
  type OwnerMessage,
} from "./owner-messages.ts";
import { createJsonLineSocket } from "./json-line-socket.ts";
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
  const send = (message: ClientMessage): void => lines.send(message);
  const closed = new AbortController();
  const waiting = new Map<number, PendingRequest>();
  let lastId = 0;

  const values = lines.readValues()[Symbol.asyncIterator]();
  send({ type: "hello", ...options });
  const { value: first }: IteratorResult<unknown, unknown> = await values.next();
  if (!isOwnerMessage(first) || first.type !== "welcome") {
    lines.close();
    if (isOwnerMessage(first) && first.type === "refused") {
      throw new SpanlineError("access_denied", first.message);
    }
    throw new OwnerGoneError("The owner left before it answered");
  }
  void listen();

  async function listen(): Promise<void> {
    for (let next = await values.next(); next.done !== true; next = await values.next()) {
      if (isOwnerMessage(next.value)) receiveMessage(next.value, waiting);
    }
    closed.abort();
    for (const { reject } of waiting.values()) reject(new OwnerGoneError("The owner is gone"));
    waiting.clear();
  }

  function call<Name extends RequestMethod>(
    method: Name,
    ...params: Parameters<Sessions[Name]>
  ): Promise<MethodResult<Name>> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      if (closed.signal.aborted) return reject(new OwnerGoneError("The owner is gone"));
      // The cast is safe, because the owner runs the same program. JSON turns undefined into null.
      waiting.set(id, {
        resolve: (value) => resolve((value ?? undefined) as MethodResult<Name>),
        reject,
      });
      const message: CallMessage<Name> = { type: "call", id, method, params };
      lines.send(message);
    });
  }

  async function* subscribe(
    sessionId: string,
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<EventBatch> {
    lastId += 1;
    const id = lastId;
    const batches: EventBatch[] = [];
    let wake = (): void => undefined;
    let ending: { readonly error?: unknown } | undefined;
    const finish = (error?: unknown): void => {
      ending ??= error === undefined ? {} : { error };
      wake();
    };
    if (closed.signal.aborted) throw new OwnerGoneError("The owner is gone");
    waiting.set(id, {
      resolve: () => finish(),
      reject: finish,
      onBatch(batch) {
        batches.push(batch);
        wake();
      },
    });
    // Unsubscribes at once: a command sent next must not count this caller as a reader.
    const stop = (): void => {
      send({ type: "unsubscribe", id });
      finish();
    };
    signal.addEventListener("abort", stop, { once: true });
    send({ type: "subscribe", id, sessionId, cursor: cursor ?? null });
    try {
      while (!signal.aborted) {
        const batch = batches.shift();
        if (batch !== undefined) {
          yield batch;
          send({ type: "taken", id });
        } else if (ending !== undefined) {
          if (ending.error !== undefined) throw ending.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      signal.removeEventListener("abort", stop);
      waiting.delete(id);
      send({ type: "unsubscribe", id });
    }
  }

  return {
    agents: first.agents,
    closed: closed.signal,
    close: () => lines.close(),
    ...deriveRequests(REQUEST_METHODS, (name, args) => call(name, ...dropMissingEnd(args))),
    /**
     * Three requests in sequence: the prompt is created here, but depends on the agent's capabilities known to the
     * owner.
     */
    async openWithPrompt(args, { sender, createPrompt }) {
      const record = await call("open", args);
      const { principal, label = null } = args;
      if (record.principal !== principal.id || record.label !== label) return record;
      const { agent } = await call("status", record.sessionId);
      const reply = await call("command", record.sessionId, createPrompt(agent), sender);
      return { ...record, reply };
    },
    subscribe,
  };
}

/** Drops a missing optional last argument: JSON would turn undefined into null. */
function dropMissingEnd<Args extends readonly unknown[]>(args: Args): Args {
  if (args.length === 0 || args.at(-1) !== undefined) return args;
  return args.slice(0, -1) as readonly unknown[] as Args;
}

interface PendingRequest {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onBatch?: (batch: EventBatch) => void;
}

function receiveMessage(message: OwnerMessage, waiting: Map<number, PendingRequest>): void {
  if (message.type === "welcome" || message.type === "refused") return;
  const waiter = waiting.get(message.id);
  switch (message.type) {
    case "batch":
      return waiter?.onBatch?.(message.batch);
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
