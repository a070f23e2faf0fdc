import type { Duplex } from "node:stream";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import { sendRequest } from "../session-methods.ts";
import type { Sessions } from "../sessions.ts";
import {
  isClientMessage,
  type ClientMessage,
  type OwnerMessage,
  type StreamItem,
  type StreamMessage,
} from "./owner-messages.ts";
import type { RemoteClients } from "./remote-clients.ts";
import { createJsonLineSocket } from "./json-line-socket.ts";

export interface ServeOptions {
  readonly sessions: Sessions;
  readonly token: string;
  readonly version: string;
  /** Shared by all connections of the owner. */
  readonly clients: RemoteClients;
  /** Aborted when the owner gives up the sessions. Joined processes continue with the next owner. */
  readonly closing: AbortSignal;
}

/** Serves the owner's sessions to a joined process until it disconnects. */
export async function serveSessions(socket: Duplex, options: ServeOptions): Promise<void> {
  const { sessions, clients, closing } = options;
  const lines = createJsonLineSocket(socket);
  // A closing owner sends no errors: the joined process repeats its request with the next owner.
  const send = (message: OwnerMessage): void => {
    if (!closing.aborted) lines.send(message);
  };
  const disconnected = new AbortController();
  const subscriptions = new Map<number, Subscription>();
  let isWelcome = false;
  try {
    for await (const message of lines.readValues()) {
      if (!isClientMessage(message)) break;
      if (!isWelcome) {
        // An unknown process, or one with the address of an earlier owner: closing makes it look up the owner again.
        if (message.type !== "hello" || message.token !== options.token) break;
        if (message.version !== options.version) {
          send({
            type: "refused",
            message: formatVersionMismatch(options.version, message.version),
          });
          break;
        }
        isWelcome = true;
        send({ type: "welcome", agents: sessions.agents });
        continue;
      }
      handleMessage(message, {
        ...options,
        connection: socket,
        subscriptions,
        disconnected: disconnected.signal,
        send,
      });
    }
  } finally {
    disconnected.abort();
    socket.end();
    if (!closing.aborted) await clients.detachClients(socket, sessions);
  }
}

function formatVersionMismatch(ownerVersion: string, clientVersion: string): string {
  return `The running bridge has version ${ownerVersion}, this one ${clientVersion}. Fix: stop it, or use its version`;
}

interface ConnectionContext extends Pick<ServeOptions, "sessions" | "clients" | "closing"> {
  /** Identifies the clients of this connection. */
  readonly connection: object;
  readonly subscriptions: Map<number, Subscription>;
  readonly disconnected: AbortSignal;
  readonly send: (message: OwnerMessage) => void;
}

interface Subscription {
  readonly controller: AbortController;
  /** Allows the next item to be sent. */
  readonly releaseNextItem: () => void;
}

function handleMessage(message: ClientMessage, context: ConnectionContext): void {
  switch (message.type) {
    case "hello":
      return;
    case "call":
      void sendResult(message, context);
      return;
    case "subscribe":
    case "watch":
      void streamItems(message, context);
      return;
    case "taken":
      context.subscriptions.get(message.id)?.releaseNextItem();
      return;
    case "unsubscribe":
      context.subscriptions.get(message.id)?.controller.abort();
      return;
    default:
      message satisfies never;
  }
}

async function sendResult(
  call: Extract<ClientMessage, { type: "call" }>,
  context: ConnectionContext,
): Promise<void> {
  const { id } = call;
  try {
    const value = await callMethod(call, context);
    context.send({ type: "result", id, value: value ?? null });
  } catch (error) {
    context.send({ type: "error", id, failure: toFailure(error) });
  }
}

async function callMethod(
  { method, params }: Extract<ClientMessage, { type: "call" }>,
  { sessions, clients, connection, disconnected, closing }: ConnectionContext,
): Promise<unknown> {
  if (method !== "command") return sendRequest(sessions, method, params);
  const reply = await sessions.command(...params);
  clients.recordReply(connection, params, reply);
  // The process disconnected while its client was being attached.
  if (disconnected.aborted && !closing.aborted) await clients.detachClients(connection, sessions);
  return reply;
}

async function streamItems(
  message: StreamMessage,
  { sessions, subscriptions, disconnected: gone, send }: ConnectionContext,
): Promise<void> {
  const { id } = message;
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, gone]);
  let releaseNextItem = (): void => undefined;
  subscriptions.set(id, { controller, releaseNextItem: () => releaseNextItem() });
  try {
    for await (const item of openStream(message, sessions, signal)) {
      // Backpressure: one item at a time. Events for a slow reader stay in the log.
      await new Promise<void>((resolve) => {
        releaseNextItem = () => {
          signal.removeEventListener("abort", releaseNextItem);
          resolve();
        };
        signal.addEventListener("abort", releaseNextItem);
        send({ type: "item", id, item });
      });
    }
    if (!signal.aborted) send({ type: "result", id, value: null });
  } catch (error) {
    if (!signal.aborted) send({ type: "error", id, failure: toFailure(error) });
  } finally {
    subscriptions.delete(id);
  }
}

function openStream(
  message: StreamMessage,
  sessions: Sessions,
  signal: AbortSignal,
): AsyncIterable<StreamItem> {
  if (message.type === "watch") return sessions.watchSessions(signal);
  return sessions.subscribe(message.sessionId, message.cursor ?? undefined, signal);
}

function toFailure(error: unknown): Failure {
  if (error instanceof SpanlineError) return error.toFailure();
  const message = error instanceof Error ? error.message : String(error);
  return { code: "service_failed", message, details: {} };
}
