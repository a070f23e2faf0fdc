import { describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../test/support/fake-clock.ts";
import { toolTurn } from "../../../test/portal/scripted-turns.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { LiveError, LiveFrame, LiveRequest } from "../../wire/live/live-frames.ts";
import {
  createLiveApiClient,
  MAX_FOLLOWED,
  TICK_MS,
  type LiveApiClient,
  type LiveSocketHandlers,
} from "./live-api-client.ts";

/** A bridge in the test's own hands: it records requests and sends the frames of the test. */
class ScriptedBridge {
  readonly clock: FakeClock = createFakeClock(0);
  readonly reloads: number[] = [];
  readonly sockets: ScriptedSocket[] = [];
  refusal: LiveError | null = null;
  readonly client: LiveApiClient = createLiveApiClient({
    openSocket: (handlers) => {
      const socket = new ScriptedSocket(handlers);
      this.sockets.push(socket);
      return socket;
    },
    clock: this.clock,
    random: () => 0,
    probe: () => Promise.resolve(this.refusal),
    reload: () => void this.reloads.push(this.clock.now()),
  });

  get socket(): ScriptedSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error("The client has opened no socket");
    return socket;
  }

  get status(): string {
    return this.client.connection.get().status;
  }

  /** Starts the client and accepts its connection. */
  static connected(): ScriptedBridge {
    const bridge = new ScriptedBridge();
    bridge.client.start();
    bridge.socket.deliver(ready());
    return bridge;
  }
}

class ScriptedSocket {
  readonly requests: LiveRequest[] = [];
  isClosed = false;
  answersPings = true;
  readonly #handlers: LiveSocketHandlers;

  constructor(handlers: LiveSocketHandlers) {
    this.#handlers = handlers;
  }

  send(text: string): void {
    const request: LiveRequest = JSON.parse(text);
    if (request.type !== "ping") this.requests.push(request);
    else if (this.answersPings) this.deliver({ type: "pong", id: request.id });
  }

  close(): void {
    this.isClosed = true;
  }

  /** Sends a frame to the client. */
  deliver(frame: LiveFrame): void {
    this.#handlers.onMessage(JSON.stringify(frame));
  }

  break(): void {
    this.#handlers.onClose();
  }
}

function ready(version = "0.1.0", protocol = 1): LiveFrame {
  const principal = { id: "ada", rights: ["prompt", "approve"] } as const;
  return { type: "ready", protocol, principal, agents: ["demo"], version, now: 0 };
}

const log: readonly Envelope[] = toolTurn().map((event, index) => ({
  sessionId: "ses_1",
  seq: index + 1,
  at: index,
  visibility: "public",
  event,
}));

function eventsFrame(id: string, from: number, to: number): LiveFrame {
  return { type: "events", id, cursor: `k1.${to}`, events: log.slice(from, to) };
}

const WATCHES = [
  { type: "watch", topic: "sessions" },
  { type: "watch", topic: "inbox" },
];

describe("The connection of a page", () => {
  it("A page is connecting until the first frame, then live", () => {
    const bridge = new ScriptedBridge();
    bridge.client.start();
    expect([bridge.status, bridge.socket.requests]).toEqual(["connecting", []]);
    bridge.socket.deliver(ready());
    expect([bridge.status, bridge.socket.requests]).toEqual(["live", WATCHES]);
  });

  it("A socket that closes is reported at once, and the next attempt follows within 250 ms", () => {
    const bridge = ScriptedBridge.connected();
    bridge.clock.advance(12_000);
    bridge.socket.break();
    const { status, lastFrameAt } = bridge.client.connection.get();
    expect({ status, lastFrameAt }).toEqual({ status: "reconnecting", lastFrameAt: 12_000 });
    bridge.clock.advance(TICK_MS);
    expect(bridge.sockets.length).toBe(2);
    bridge.socket.deliver(ready());
    expect([bridge.status, bridge.socket.requests]).toEqual(["live", WATCHES]);
  });

  it("A bridge that stops answering is reported within 2 s, and its socket is replaced after 5 s", () => {
    const bridge = ScriptedBridge.connected();
    bridge.clock.advance(10_000);
    bridge.socket.answersPings = false;
    bridge.clock.advance(2000);
    expect(bridge.status).toBe("reconnecting");
    expect(bridge.sockets.length).toBe(1);
    bridge.clock.advance(6000);
    expect(bridge.sockets[0]?.isClosed).toBe(true);
    expect(bridge.sockets.length).toBe(2);
  });

  it("A late pong makes a silent connection live again without a new socket", () => {
    const bridge = ScriptedBridge.connected();
    bridge.socket.answersPings = false;
    bridge.clock.advance(2000);
    bridge.socket.deliver({ type: "pong", id: 1 });
    expect([bridge.status, bridge.sockets.length]).toEqual(["live", 1]);
  });

  it("Failed attempts follow each other at growing intervals of at most 5 s", () => {
    const bridge = ScriptedBridge.connected();
    const attempts: number[] = [];
    for (let seconds = 0; seconds < 40; seconds += 0.25) {
      const count = bridge.sockets.length;
      if (!bridge.socket.isClosed) bridge.socket.break();
      bridge.socket.isClosed = true;
      bridge.clock.advance(TICK_MS);
      if (bridge.sockets.length > count) attempts.push(bridge.clock.now());
    }
    const pauses = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0));
    expect(pauses.slice(0, 8)).toEqual([250, 500, 1000, 2000, 2500, 2500, 2500, 2500]);
  });

  it("A network that is back, and a page in the foreground, connect at once", () => {
    const bridge = ScriptedBridge.connected();
    bridge.socket.break();
    bridge.client.wake();
    expect(bridge.sockets.length).toBe(2);
    bridge.socket.break();
    bridge.client.setVisible(false);
    bridge.client.setVisible(true);
    expect(bridge.sockets.length).toBe(3);
  });

  it("A page in the background sends no pings and reports no outage", () => {
    const bridge = ScriptedBridge.connected();
    bridge.client.setVisible(false);
    bridge.socket.answersPings = false;
    bridge.clock.advance(60_000);
    expect(bridge.status).toBe("live");
    bridge.client.setVisible(true);
    expect(bridge.status).toBe("live");
    bridge.clock.advance(2000);
    expect(bridge.status).toBe("reconnecting");
  });

  it("A handshake without a first frame is given up after 8 s", () => {
    const bridge = new ScriptedBridge();
    bridge.client.start();
    bridge.clock.advance(9000);
    expect([bridge.sockets[0]?.isClosed, bridge.sockets.length]).toEqual([true, 2]);
  });

  it("A refused handshake asks the bridge for its reason, and the page stays refused", async () => {
    const bridge = new ScriptedBridge();
    bridge.refusal = { code: "unauthorized", message: "This server requires its token" };
    bridge.client.start();
    bridge.socket.break();
    await Promise.resolve();
    await Promise.resolve();
    expect(bridge.client.connection.get()).toMatchObject({
      status: "refused",
      error: bridge.refusal,
    });
    bridge.clock.advance(60_000);
    expect(bridge.sockets.length).toBe(1);
  });

  it("A bridge of another version reloads the page, and another protocol does not", () => {
    const bridge = ScriptedBridge.connected();
    bridge.socket.break();
    bridge.clock.advance(TICK_MS);
    bridge.socket.deliver(ready("0.2.0"));
    expect([bridge.status, bridge.reloads.length]).toEqual(["outdated", 1]);
    const other = new ScriptedBridge();
    other.client.start();
    other.socket.deliver(ready("0.1.0", 2));
    expect([other.status, other.reloads.length]).toEqual(["outdated", 0]);
  });

  it("A message that is not a frame has no effect", () => {
    const bridge = ScriptedBridge.connected();
    bridge.socket.deliver(JSON.parse(`{"type":"dance"}`));
    bridge.socket.deliver(JSON.parse(`{"type":"events","id":5}`));
    expect(bridge.status).toBe("live");
  });
});

describe("The events of a session", () => {
  it("A session is published when its log has been read, and then with each batch", () => {
    const bridge = ScriptedBridge.connected();
    const store = bridge.client.follow("ses_1");
    expect(bridge.socket.requests.at(-1)).toEqual({
      type: "subscribe",
      id: "s1",
      sessionId: "ses_1",
    });
    bridge.socket.deliver(eventsFrame("s1", 0, 5));
    bridge.clock.advance(100);
    expect(store.get()).toMatchObject({ isLoading: true, view: { seq: 0 } });
    bridge.socket.deliver({ type: "live", id: "s1", cursor: "k1.5" });
    bridge.clock.advance(16);
    expect(store.get()).toMatchObject({ isLoading: false, view: { seq: 5 } });
    bridge.socket.deliver(eventsFrame("s1", 5, 9));
    bridge.clock.advance(16);
    expect(store.get().view.seq).toBe(9);
  });

  it("A reconnect continues at the cursor, without a gap and without a repetition", () => {
    const bridge = ScriptedBridge.connected();
    const store = bridge.client.follow("ses_1");
    bridge.socket.deliver(eventsFrame("s1", 0, 9));
    bridge.socket.deliver({ type: "live", id: "s1", cursor: "k1.9" });
    const first = bridge.socket;
    first.break();
    bridge.clock.advance(TICK_MS);
    bridge.socket.deliver(ready());
    const request = bridge.socket.requests.at(-1);
    expect(request).toMatchObject({ type: "subscribe", sessionId: "ses_1", cursor: "k1.9" });
    const id = request?.type === "subscribe" ? request.id : "";
    // The old socket and the old subscription are gone.
    first.deliver(eventsFrame("s1", 9, 20));
    bridge.socket.deliver(eventsFrame("s1", 9, 20));
    bridge.socket.deliver(eventsFrame(id, 9, log.length));
    bridge.clock.advance(100);
    expect(store.get().view.seq).toBe(log.length);
    expect(store.get().view.turns[0]?.items.length).toBe(5);
  });

  it("An invalid cursor reads the log again from its beginning", () => {
    const bridge = ScriptedBridge.connected();
    const store = bridge.client.follow("ses_1");
    bridge.socket.deliver(eventsFrame("s1", 0, 9));
    bridge.socket.deliver({ type: "live", id: "s1", cursor: "k1.9" });
    bridge.clock.advance(100);
    bridge.socket.deliver({
      type: "ended",
      id: "s1",
      error: { code: "cursor_gone", message: "The log was replaced" },
    });
    const request = bridge.socket.requests.at(-1);
    expect(request).toEqual({ type: "subscribe", id: expect.any(String), sessionId: "ses_1" });
    const id = request?.type === "subscribe" ? request.id : "";
    expect(store.get()).toMatchObject({ isLoading: true, error: null, view: { seq: 9 } });
    bridge.socket.deliver(eventsFrame(id, 0, 3));
    bridge.socket.deliver({ type: "live", id, cursor: "k2.3" });
    bridge.clock.advance(100);
    expect(store.get()).toMatchObject({ isLoading: false, view: { seq: 3 } });
  });

  it("A deleted session stays ended with its reason, and a failure of the bridge is tried again", () => {
    const bridge = ScriptedBridge.connected();
    const store = bridge.client.follow("ses_1");
    const failure = { code: "service_failed", message: "The bridge failed" };
    bridge.socket.deliver({ type: "ended", id: "s1", error: failure });
    bridge.clock.advance(3000);
    const request = bridge.socket.requests.at(-1);
    expect(request).toMatchObject({ type: "subscribe", sessionId: "ses_1" });
    const id = request?.type === "subscribe" ? request.id : "";
    const error = { code: "not_found", message: "Session is not known" };
    bridge.socket.deliver({ type: "ended", id, error });
    bridge.clock.advance(60_000);
    expect(store.get()).toMatchObject({ error, isLoading: false });
    expect(bridge.socket.requests.length).toBe(4);
    bridge.client.follow("ses_1");
    expect(bridge.socket.requests[4]).toMatchObject({ type: "subscribe", sessionId: "ses_1" });
  });

  it("A page follows several sessions at once, and unsubscribes from the least recently shown sessions", () => {
    const bridge = ScriptedBridge.connected();
    for (let count = 0; count <= MAX_FOLLOWED; count += 1) bridge.client.follow(`ses_${count}`);
    bridge.client.follow("ses_1");
    bridge.client.follow("ses_99");
    const ended = bridge.socket.requests.filter(({ type }) => type === "unsubscribe");
    expect(ended).toEqual([
      { type: "unsubscribe", id: "s1" },
      { type: "unsubscribe", id: "s3" },
    ]);
  });

  it("A session which a view shows stays subscribed, however many sessions are followed after", () => {
    const bridge = ScriptedBridge.connected();
    const endView = bridge.client.follow("ses_shown").subscribe(() => undefined);
    const listEnded = () => bridge.socket.requests.filter(({ type }) => type === "unsubscribe");
    for (let count = 0; count < MAX_FOLLOWED; count += 1) bridge.client.follow(`ses_${count}`);
    expect(listEnded()).toEqual([]);
    endView();
    bridge.client.follow("ses_0");
    expect(listEnded()).toEqual([{ type: "unsubscribe", id: "s1" }]);
  });

  it("A page attaches again after a reconnect, and takes control over only once", async () => {
    const bridge = ScriptedBridge.connected();
    const store = bridge.client.follow("ses_1");
    const mode = "controller";
    const taken = bridge.client.attach("ses_1", { name: "Tab", mode, takeOver: true });
    bridge.socket.deliver({ type: "attached", id: "s1", clientId: "client_1", role: mode });
    expect(await taken).toEqual({ ok: true, value: undefined });
    expect(store.get().client).toEqual({ clientId: "client_1", role: mode });
    bridge.socket.break();
    bridge.clock.advance(TICK_MS);
    bridge.socket.deliver(ready());
    expect(bridge.socket.requests.slice(2)).toEqual([
      { type: "subscribe", id: "s2", sessionId: "ses_1" },
      { type: "attach", id: "s2", name: "Tab", mode },
    ]);
  });

  it("A refused attachment resolves with the reason, and a missing response after 10 s", async () => {
    const bridge = ScriptedBridge.connected();
    bridge.client.follow("ses_1");
    const error = { code: "conflict", message: "Another client is the controller" };
    const refused = bridge.client.attach("ses_1", { name: "Tab", mode: "controller" });
    bridge.socket.deliver({ type: "refused", id: "s1", error });
    expect(await refused).toEqual({ ok: false, error });
    const lost = bridge.client.attach("ses_1", { name: "Tab", mode: "observer" });
    bridge.clock.advance(10_000);
    expect(await lost).toMatchObject({ ok: false, error: { code: "deadline_exceeded" } });
  });
});

describe("The lists of sessions and requests", () => {
  const summary = (sessionId: string, updatedAt: number) => ({
    sessionId,
    agent: "demo",
    principal: "ada",
    title: null,
    workingDirectory: null,
    state: "idle" as const,
    createdAt: 1,
    updatedAt,
    cursor: "k1.1",
  });

  it("Changes are applied to the list, and a reset replaces it", () => {
    const bridge = ScriptedBridge.connected();
    const ids = (): string[] =>
      bridge.client.sessions.get().sessions.map(({ sessionId }) => sessionId);
    const frame = { type: "sessions", removed: [] } as const;
    bridge.socket.deliver({
      ...frame,
      reset: true,
      sessions: [summary("a", 2), summary("b", 1)],
      complete: false,
    });
    bridge.socket.deliver({ ...frame, reset: false, sessions: [summary("b", 3)] });
    expect(ids()).toEqual(["b", "a"]);
    bridge.socket.deliver({ ...frame, reset: false, sessions: [], removed: ["a"] });
    expect(ids()).toEqual(["b"]);
    expect(bridge.client.sessions.get()).toMatchObject({ isComplete: false, isLoaded: true });
    bridge.socket.deliver({ ...frame, reset: true, sessions: [summary("c", 1)], complete: true });
    expect([ids(), bridge.client.sessions.get().isComplete]).toEqual([["c"], true]);
  });
});
