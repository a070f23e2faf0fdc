import type { Duplex } from "node:stream";
import type { Cursor } from "../../domain/envelope.ts";
import { errorFrom, SpanlineError } from "../../domain/errors.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { Batch } from "../../store/store.ts";
import {
  isOwnerMessage,
  type CallMessage,
  type JoinerMessage,
  type Method,
  type OwnerMessage,
} from "./link-message.ts";
import { linesOver } from "./lines.ts";
import { OwnerGoneError } from "./owner-gone-error.ts";

/** The owner's sessions, over one connection. */
export interface RemoteSessions extends Sessions {
  /** Aborted when the connection is. */
  readonly gone: AbortSignal;
  close(): void;
}

export interface JoinOptions {
  readonly token: string;
  readonly version: string;
}

/** Introduces itself to the owner; rejects when that refuses. */
export async function remoteSessions(
  socket: Duplex,
  options: JoinOptions,
): Promise<RemoteSessions> {
  const lines = linesOver(socket);
  const send = (message: JoinerMessage): void => lines.send(message);
  const gone = new AbortController();
  const waiting = new Map<number, Waiter>();
  let lastId = 0;

  const values = lines.values()[Symbol.asyncIterator]();
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
      if (isOwnerMessage(next.value)) receive(next.value, waiting);
    }
    gone.abort();
    for (const { reject } of waiting.values()) reject(new OwnerGoneError("The owner is gone"));
    waiting.clear();
  }

  function call<Name extends Method>(
    method: Name,
    ...params: Parameters<Sessions[Name]>
  ): Promise<Answer<Name>> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      if (gone.signal.aborted) return reject(new OwnerGoneError("The owner is gone"));
      // The owner is this same program, so this is what the method gives; what is undefined there is null on the way.
      waiting.set(id, {
        resolve: (value) => resolve((value ?? undefined) as Answer<Name>),
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
  ): AsyncGenerator<Batch> {
    lastId += 1;
    const id = lastId;
    const batches: Batch[] = [];
    let wake = (): void => undefined;
    let end: { readonly error?: unknown } | undefined;
    const finish = (error?: unknown): void => {
      end ??= error === undefined ? {} : { error };
      wake();
    };
    if (gone.signal.aborted) throw new OwnerGoneError("The owner is gone");
    waiting.set(id, {
      resolve: () => finish(),
      reject: finish,
      batch(batch) {
        batches.push(batch);
        wake();
      },
    });
    // At once: what is asked of the owner next is asked by somebody who does not read any more.
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
        } else if (end !== undefined) {
          if (end.error !== undefined) throw end.error;
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
    gone: gone.signal,
    close: () => lines.close(),
    open: (given) => call("open", given),
    /** One after the other: what makes the prompt is here, and what the agent can do is known there. */
    async begin(given, { from, prompt }) {
      const record = await call("open", given);
      const { principal, label = null } = given;
      if (record.principal !== principal.id || record.label !== label) return record;
      const { agent } = await call("peek", record.sessionId);
      const reply = await call("command", record.sessionId, prompt(agent), from);
      return { ...record, reply };
    },
    command: (...given) => call("command", ...given),
    equip: (...given) => call("equip", ...given),
    // What is undefined here would be null there.
    checkLog: () => call("checkLog"),
    ready: (agent) => (agent === undefined ? call("ready") : call("ready", agent)),
    peek: (sessionId) => call("peek", sessionId),
    history: (...given) => call("history", ...given),
    rules: (sessionId) => call("rules", sessionId),
    find: (sessionId) => call("find", sessionId),
    list: (query) => call("list", query),
    delete: (sessionId) => call("delete", sessionId),
    subscribe,
  };
}

type Answer<Name extends Method> = Awaited<ReturnType<Sessions[Name]>>;

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly batch?: (batch: Batch) => void;
}

function receive(message: OwnerMessage, waiting: Map<number, Waiter>): void {
  if (message.type === "welcome" || message.type === "refused") return;
  const waiter = waiting.get(message.id);
  switch (message.type) {
    case "batch":
      return waiter?.batch?.(message.batch);
    case "result":
      waiting.delete(message.id);
      return waiter?.resolve(message.value);
    case "error":
      waiting.delete(message.id);
      return waiter?.reject(errorFrom(message.failure));
    default:
      message satisfies never;
  }
}
