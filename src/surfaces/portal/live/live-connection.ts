import { createSharedAbort, type SharedAbort } from "../../../async/shared-abort.ts";
import type { OpenSocket } from "../../../http/sockets/open-socket.ts";
import { decodeLiveRequest } from "../../../wire/live/decode-live-request.ts";
import type { LiveError, LiveRequest, LiveTopic } from "../../../wire/live/live-frames.ts";
import { findSession } from "../session-resource.ts";
import type { LoginWatch } from "../login/watch-login.ts";
import type { FeedContext } from "./feed-context.ts";
import { sendInbox } from "./inbox-feed.ts";
import { createLiveWriter, type LiveWriter } from "./live-writer.ts";
import type { Attachment, AttachRequest, Presence } from "./presence.ts";
import { sendSessionList } from "./session-list-feed.ts";
import {
  streamSession,
  toLiveError,
  type StreamContext,
  type SubscribeRequest,
} from "./stream-session.ts";

/** The parts of a connection, shared by its subscriptions and topics. */
export type LiveContext = StreamContext & FeedContext & { readonly presence: Presence };
export interface LiveConnectionOptions extends Omit<LiveContext, "writer"> {
  /** The login of the caller. Undefined for a caller with a key or a token. */
  readonly login: LoginWatch | undefined;
}

/**
 * Serves a client until it disconnects, its login has ended, or the sessions of this process have closed. `greet` sends
 * the first frame.
 */
export async function serveLiveClient(
  socket: OpenSocket,
  options: LiveConnectionOptions,
  greet: (writer: LiveWriter) => Promise<void>,
): Promise<void> {
  const writer = createLiveWriter(socket);
  const connection = new LiveConnection({ ...options, writer }, socket.disconnectSignal);
  try {
    await greet(writer);
    const { messages, urgentMessages } = socket;
    await Promise.race([
      readRequests(messages, connection),
      readRequests(urgentMessages, connection),
      connection.closed,
      ...(options.login === undefined ? [] : [options.login.ended]),
    ]);
  } finally {
    options.login?.stop();
    await connection.end();
  }
}

async function readRequests(
  messages: AsyncIterable<string>,
  connection: LiveConnection,
): Promise<void> {
  // The response to a frame is awaited, so a client which sends without reading has its connection closed.
  for await (const text of messages) await connection.handle(text);
}

/** Subscriptions per connection. Each holds at most a batch of events in memory. */
const MAX_SUBSCRIPTIONS = 200;

class LiveConnection {
  readonly #context: LiveContext;
  readonly #subscriptions = new Map<string, LiveSubscription>();
  readonly #topics = new Map<LiveTopic, LiveTask>();
  readonly #ending = new AbortController();
  readonly #shared: SharedAbort;
  readonly #onClosed: () => void;
  /** Resolves when a subscription ends because the sessions have closed. The client then reconnects. */
  readonly closed: Promise<void>;

  constructor(context: LiveContext, disconnectSignal: AbortSignal) {
    this.#context = context;
    this.#shared = createSharedAbort(this.#ending.signal);
    disconnectSignal.addEventListener("abort", () => this.#ending.abort(), { once: true });
    let onClosed = (): void => {};
    this.closed = new Promise((resolve) => (onClosed = resolve));
    this.#onClosed = onClosed;
  }

  async handle(text: string): Promise<void> {
    const decoded = decodeLiveRequest(text);
    if (decoded.ok) await this.#handleRequest(decoded.frame);
    else await this.#refuse(decoded.problem.error, decoded.problem.id);
  }

  /** Ends all subscriptions. Their clients stay attached for a few seconds, for a reconnect. */
  async end(): Promise<void> {
    this.#ending.abort();
    for (const { attachment } of this.#subscriptions.values())
      if (attachment !== undefined) this.#context.presence.release(attachment);
    const tasks = [...this.#subscriptions.values(), ...this.#topics.values()];
    await Promise.all(tasks.map(({ done }) => done));
  }

  async #handleRequest(request: LiveRequest): Promise<void> {
    switch (request.type) {
      case "subscribe":
        return this.#subscribe(request);
      case "unsubscribe":
        return this.#unsubscribe(request.id);
      case "ping":
        return this.#context.writer.write({ type: "pong", id: request.id });
      case "watch":
        return this.#watch(request.topic);
      case "unwatch":
        return this.#topics.get(request.topic)?.stop();
      case "attach":
        return this.#attach(request);
      case "detach":
        return this.#detach(this.#subscriptions.get(request.id));
      default:
        return request satisfies never;
    }
  }

  async #subscribe(request: SubscribeRequest): Promise<void> {
    const { id } = request;
    if (this.#subscriptions.has(id))
      return this.#refuse({ code: "conflict", message: `The id "${id}" names a subscription` }, id);
    if (this.#subscriptions.size >= MAX_SUBSCRIPTIONS) {
      const message = `The connection has ${MAX_SUBSCRIPTIONS} subscriptions, which is the limit`;
      return this.#refuse({ code: "overloaded", message }, id);
    }
    const task = this.#start(async (signal) => {
      const outcome = await streamSession(request, this.#context, signal);
      if (outcome === "closed") this.#onClosed();
      if (outcome !== "failed") return;
      await this.#detach(this.#subscriptions.get(id));
      this.#subscriptions.delete(id);
    });
    this.#subscriptions.set(id, { ...task, sessionId: request.sessionId, attachment: undefined });
  }

  async #unsubscribe(id: string): Promise<void> {
    const subscription = this.#subscriptions.get(id);
    await subscription?.stop();
    await this.#detach(subscription);
    this.#subscriptions.delete(id);
  }

  async #attach(request: AttachRequest): Promise<void> {
    const { id } = request;
    const { caller, presence, sessions, writer, report } = this.#context;
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined)
      return this.#refuse(
        { code: "not_found", message: `The id "${id}" is not a subscription` },
        id,
      );
    const { sessionId, attachment: current } = subscription;
    try {
      await findSession(sessions, sessionId, caller);
      const target = { sessionId, principal: { id: caller.id, rights: caller.rights } };
      const outcome = await presence.attach(request, target, current);
      if (outcome.status === "refused") {
        const { code, message } = outcome.failure;
        return await this.#refuse({ code, message }, id);
      }
      const { attachment, role } = outcome;
      // The subscription or the connection may have ended meanwhile.
      if (this.#subscriptions.get(id) !== subscription) return await presence.detach(attachment);
      subscription.attachment = attachment;
      if (this.#ending.signal.aborted) return presence.release(attachment);
      await writer.write({ type: "attached", id, clientId: attachment.clientId, role });
    } catch (error) {
      await this.#refuse(toLiveError(error, report), id);
    }
  }

  async #detach(subscription: LiveSubscription | undefined): Promise<void> {
    const attachment = subscription?.attachment;
    if (subscription === undefined || attachment === undefined) return;
    subscription.attachment = undefined;
    await this.#context.presence.detach(attachment);
  }

  async #watch(topic: LiveTopic): Promise<void> {
    if (this.#topics.has(topic))
      return this.#refuse({ code: "conflict", message: `"${topic}" is watched already` }, topic);
    const task = this.#start(async (signal) => {
      const error = await this.#sendTopic(topic, signal);
      this.#topics.delete(topic);
      if (error !== undefined) await this.#refuse(error, topic);
      else if (!signal.aborted) this.#onClosed();
    });
    this.#topics.set(topic, task);
  }

  /** Returns the error of a failed topic. Undefined after an abort, or if the sessions have closed. */
  async #sendTopic(topic: LiveTopic, signal: AbortSignal): Promise<LiveError | undefined> {
    try {
      await FEEDS[topic](this.#context, signal);
      return undefined;
    } catch (error) {
      return signal.aborted ? undefined : toLiveError(error, this.#context.report);
    }
  }

  /** Runs work until it ends, is stopped, or the connection ends. The work starts in a later tick and never rejects. */
  #start(work: (signal: AbortSignal) => Promise<void>): LiveTask {
    const controller = new AbortController();
    const { signal, leave } = this.#shared.join(controller.signal);
    const run = async (): Promise<void> => {
      await Promise.resolve();
      await work(signal);
      leave();
    };
    const done = run();
    const stop = async (): Promise<void> => {
      controller.abort();
      await done;
    };
    return { stop, done };
  }

  #refuse(error: LiveError, id?: string): Promise<void> {
    return this.#context.writer.write({
      type: "refused",
      ...(id !== undefined && { id }),
      error,
    });
  }
}

const FEEDS: {
  readonly [Topic in LiveTopic]: (context: FeedContext, signal: AbortSignal) => Promise<void>;
} = { sessions: sendSessionList, inbox: sendInbox };

interface LiveSubscription extends LiveTask {
  readonly sessionId: string;
  attachment: Attachment | undefined;
}

/** A subscription or a topic. */
interface LiveTask {
  stop(): Promise<void>;
  /** Never rejects. */
  readonly done: Promise<void>;
}
