import type { Duplex } from "node:stream";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { Sessions } from "../../session/sessions.ts";
import { isJoinerMessage, type JoinerMessage, type OwnerMessage } from "./link-message.ts";
import { linesOver } from "./lines.ts";

export interface ServeOptions {
  readonly sessions: Sessions;
  readonly token: string;
  readonly version: string;
}

/** Lets one joined process use the owner's sessions, until it goes. */
export async function serveSessions(socket: Duplex, options: ServeOptions): Promise<void> {
  const lines = linesOver(socket);
  const send = (message: OwnerMessage): void => lines.send(message);
  const gone = new AbortController();
  const subscriptions = new Map<number, Subscription>();
  let isWelcome = false;
  try {
    for await (const message of lines.values()) {
      if (!isJoinerMessage(message)) break;
      if (!isWelcome) {
        const problem = problemOf(message, options);
        if (problem !== undefined) {
          send({ type: "refused", message: problem });
          break;
        }
        isWelcome = true;
        send({ type: "welcome", agents: options.sessions.agents });
        continue;
      }
      take(message, { sessions: options.sessions, subscriptions, gone: gone.signal, send });
    }
  } finally {
    gone.abort();
    socket.end();
  }
}

function problemOf(message: JoinerMessage, { token, version }: ServeOptions): string | undefined {
  if (message.type !== "hello" || message.token !== token) return "This is not for you";
  if (message.version === version) return undefined;
  return `The bridge that runs is version ${version}, and this is ${message.version}: stop it, or use its version`;
}

interface Served {
  readonly sessions: Sessions;
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
  { id, method, params }: Extract<JoinerMessage, { type: "call" }>,
  { sessions, send }: Served,
): Promise<void> {
  try {
    // The other side is this same program: its parameters are what the method takes.
    const value: unknown = await Reflect.apply(sessions[method], sessions, params);
    send({ type: "result", id, value: value ?? null });
  } catch (error) {
    send({ type: "error", id, failure: failureOf(error) });
  }
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
      const next = new Promise<void>((resolve) => {
        taken = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      send({ type: "batch", id, batch });
      await next;
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
