import type { Duplex } from "node:stream";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { Sessions } from "../../session/sessions.ts";
import { isJoinerMessage, type JoinerMessage, type OwnerMessage } from "./link-message.ts";
import type { LinkedClients } from "./linked-clients.ts";
import { linesOver } from "./lines.ts";

export interface ServeOptions {
  readonly sessions: Sessions;
  readonly token: string;
  readonly version: string;
  /** Of all links of the owner. */
  readonly clients: LinkedClients;
  /** Aborted when the owner lets go of the sessions: whoever is joined goes on with the next one. */
  readonly closing: AbortSignal;
}

/** Lets one joined process use the owner's sessions, until it goes. */
export async function serveSessions(socket: Duplex, options: ServeOptions): Promise<void> {
  const { sessions, clients, closing } = options;
  const lines = linesOver(socket);
  // What an owner that is going failed at is asked of the next one.
  const send = (message: OwnerMessage): void => {
    if (!closing.aborted) lines.send(message);
  };
  const gone = new AbortController();
  const subscriptions = new Map<number, Subscription>();
  let isWelcome = false;
  try {
    for await (const message of lines.values()) {
      if (!isJoinerMessage(message)) break;
      if (!isWelcome) {
        // A stranger, or one that read where the owner before this one was: it is to look again.
        if (message.type !== "hello" || message.token !== options.token) break;
        if (message.version !== options.version) {
          send({ type: "refused", message: otherVersion(options.version, message.version) });
          break;
        }
        isWelcome = true;
        send({ type: "welcome", agents: sessions.agents });
        continue;
      }
      take(message, { ...options, link: socket, subscriptions, gone: gone.signal, send });
    }
  } finally {
    gone.abort();
    socket.end();
    if (!closing.aborted) await clients.detach(socket, sessions);
  }
}

function otherVersion(own: string, other: string): string {
  return `The bridge that runs is version ${own}, and this is ${other}: stop it, or use its version`;
}

interface Served extends Pick<ServeOptions, "sessions" | "clients" | "closing"> {
  /** What its clients are known by. */
  readonly link: object;
  readonly subscriptions: Map<number, Subscription>;
  readonly gone: AbortSignal;
  readonly send: (message: OwnerMessage) => void;
}

interface Subscription {
  readonly controller: AbortController;
  /** Lets the next batch go. */
  readonly taken: () => void;
}

function take(message: JoinerMessage, served: Served): void {
  switch (message.type) {
    case "hello":
      return;
    case "call":
      void answer(message, served);
      return;
    case "subscribe":
      void follow(message, served);
      return;
    case "taken":
      served.subscriptions.get(message.id)?.taken();
      return;
    case "unsubscribe":
      served.subscriptions.get(message.id)?.controller.abort();
      return;
    default:
      message satisfies never;
  }
}

async function answer(
  call: Extract<JoinerMessage, { type: "call" }>,
  served: Served,
): Promise<void> {
  const { id } = call;
  try {
    const value = await called(call, served);
    served.send({ type: "result", id, value: value ?? null });
  } catch (error) {
    served.send({ type: "error", id, failure: failureOf(error) });
  }
}

async function called(
  { method, params }: Extract<JoinerMessage, { type: "call" }>,
  { sessions, clients, link, gone, closing }: Served,
): Promise<unknown> {
  if (method !== "command") return Reflect.apply(sessions[method], sessions, params);
  const reply = await sessions.command(...params);
  clients.replied(link, params, reply);
  // It went while it was being attached.
  if (gone.aborted && !closing.aborted) await clients.detach(link, sessions);
  return reply;
}

async function follow(
  { id, sessionId, cursor }: Extract<JoinerMessage, { type: "subscribe" }>,
  { sessions, subscriptions, gone, send }: Served,
): Promise<void> {
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, gone]);
  let taken = (): void => undefined;
  subscriptions.set(id, { controller, taken: () => taken() });
  try {
    for await (const batch of sessions.subscribe(sessionId, cursor ?? undefined, signal)) {
      // One batch at a time: what a slow reader has not taken stays in the log.
      await new Promise<void>((resolve) => {
        taken = () => {
          signal.removeEventListener("abort", taken);
          resolve();
        };
        signal.addEventListener("abort", taken);
        send({ type: "batch", id, batch });
      });
    }
    if (!signal.aborted) send({ type: "result", id, value: null });
  } catch (error) {
    if (!signal.aborted) send({ type: "error", id, failure: failureOf(error) });
  } finally {
    subscriptions.delete(id);
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof SpanlineError) return error.toFailure();
  const message = error instanceof Error ? error.message : String(error);
  return { code: "service_failed", message, details: {} };
}
