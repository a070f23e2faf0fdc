import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { loggedSessions, type LoggedSessions } from "./logged-sessions.ts";
import { servedPortal, type ServedPortal } from "./start-portal.ts";
import { sseClient, type Seen, type SseClient } from "./sse-client.ts";
import { afterApproval, beforeApproval, toolTurn } from "./scripted-turns.ts";

let sessions: LoggedSessions;
let clock: FakeClock;
let portal: ServedPortal;
let sessionId: string;
let incarnation: string;
let events: string;

beforeEach(async () => {
  sessions = loggedSessions();
  clock = createFakeClock();
  portal = await servedPortal(sessions, { clock, heartbeatMs: 15_000 });
  const principal = { id: "local", rights: ["prompt"] } as const;
  ({ sessionId, incarnation } = await sessions.open({ principal, title: "A talk" }));
  events = `/api/sessions/${sessionId}/events`;
});

afterEach(async () => {
  await portal.close();
});

async function logged(): Promise<readonly Envelope[]> {
  return sessions.store.read(sessionId, 0, 1e6);
}

function seenOf(envelopes: readonly Envelope[]): Seen[] {
  return envelopes.map((envelope) => ({
    id: `${incarnation}.${envelope.seq}`,
    name: "",
    data: JSON.stringify(envelope),
  }));
}

/** Waits until the number does not change for 300 ticks. */
async function settled(count: () => number): Promise<void> {
  for (let same = 0, before = -1; same < 300; same++) {
    if (count() !== before) same = 0;
    before = count();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("GET /api/sessions/:id/events", () => {
  it("Events are sent from the beginning and then as they are appended", async () => {
    await sessions.log(sessionId, ...beforeApproval());
    const client = await sseClient(portal, events);
    expect(client.response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    const old = await logged();
    expect(await client.take(old.length)).toEqual(seenOf(old));
    for (const event of afterApproval()) {
      expect(await client.take(0)).toEqual([]);
      const appended = await sessions.log(sessionId, event);
      expect(await client.take(1)).toEqual(seenOf(appended));
    }
    client.close();
  });

  it.each(["cursor", "last-event-id"])(
    "Events are the same from every position, given by %s",
    async (by) => {
      const half = toolTurn().slice(0, 10);
      await sessions.log(sessionId, ...half);
      const places = Array.from({ length: half.length + 2 }, (_, seq) => `${incarnation}.${seq}`);
      const clients = await Promise.all(
        places.map((place) =>
          by === "cursor"
            ? sseClient(portal, `${events}?cursor=${encodeURIComponent(place)}`)
            : sseClient(portal, `${events}?cursor=${incarnation}.0`, { "last-event-id": place }),
        ),
      );
      await sessions.log(sessionId, ...toolTurn().slice(10));
      const all = seenOf(await logged());
      for (const [seq, client] of clients.entries()) {
        expect(await client.take(all.length - seq)).toEqual(all.slice(seq));
        client.close();
      }
    },
  );

  it("Internal events are omitted, also after a resume", async () => {
    await sessions.logInternal(sessionId, { type: "session.recovered", epoch: 2 });
    await sessions.log(sessionId, { type: "session.title_changed", title: "B" });
    await sessions.logInternal(sessionId, { type: "session.recovered", epoch: 3 });
    const all = seenOf((await logged()).filter(({ visibility }) => visibility === "public"));
    expect(all).toHaveLength(2);
    for (const [cursor, count] of [
      [0, 2],
      [1, 1],
      [2, 1],
      [3, 0],
      [4, 0],
    ] as const) {
      const client = await sseClient(portal, `${events}?cursor=${incarnation}.${cursor}`);
      const seen = count === 0 ? [] : await client.take(count);
      expect(seen).toEqual(all.slice(2 - count));
      client.close();
    }
  });

  it("A long log is sent with one frame per event", async () => {
    const titles = Array.from({ length: 3000 }, (_, at) => `Title ${at}`);
    await sessions.log(
      sessionId,
      ...titles.map((title) => ({ type: "session.title_changed", title }) as const),
    );
    const client = await sseClient(portal, events);
    expect(await client.take(3001)).toEqual(seenOf(await logged()));
    client.close();
  });

  it.each([
    ["of another log", "other.1", 410, "cursor_gone"],
    ["ahead of the log", "$incarnation.99", 410, "cursor_ahead"],
    ["that is invalid", "first", 400, "validation_failed"],
    ["with a negative position", "$incarnation.-1", 400, "validation_failed"],
  ])("A cursor %s is refused", async (_, text, status, code) => {
    const cursor = text.replace("$incarnation", incarnation);
    const answer = await portal.get(`${events}?cursor=${cursor}`);
    expect(answer).toMatchObject({ status, json: { error: { code } } });
    expect((await portal.get(events, { "last-event-id": cursor })).status).toBe(status);
  });

  it("A cursor of a session that was deleted and created again is refused", async () => {
    const cursor = `${incarnation}.1`;
    await sessions.delete(sessionId);
    const principal = { id: "local", rights: ["prompt"] } as const;
    await sessions.open({ sessionId, principal, title: "Again" });
    expect(await portal.get(`${events}?cursor=${cursor}`)).toMatchObject({
      status: 410,
      json: { error: { code: "cursor_gone", hint: expect.stringContaining("beginning") } },
    });
  });

  it("A stream ends with a failure if its session is deleted", async () => {
    const client = await sseClient(portal, events);
    await client.take(1);
    await sessions.delete(sessionId);
    const [failure] = await client.take(1);
    expect(failure?.name).toBe("failure");
    expect(JSON.parse(failure?.data ?? "")).toMatchObject({ error: { code: "cursor_gone" } });
    expect(await client.next()).toBeUndefined();
  });

  it("An idle stream gets keep-alive comments", async () => {
    const client = await sseClient(portal, events);
    await client.take(1);
    for (let beat = 0; beat < 3; beat++) {
      const comment = client.next();
      await settled(() => clock.pending);
      clock.advance(14_999);
      clock.advance(1);
      expect(await comment).toMatchObject({ type: "comment" });
    }
    const appended = await sessions.log(sessionId, { type: "session.title_changed", title: "B" });
    expect(await client.take(1)).toEqual(seenOf(appended));
    client.close();
    await eventually(() => expect(clock.pending).toBe(0));
  });

  it("The subscription ends when the client disconnects", async () => {
    let live = 0;
    const subscribe = sessions.subscribe.bind(sessions);
    sessions.subscribe = async function* (...taken) {
      live += 1;
      try {
        yield* subscribe(...taken);
      } finally {
        live -= 1;
      }
    };
    const client = await sseClient(portal, events);
    await client.take(1);
    expect(live).toBe(1);
    client.close();
    await eventually(() => expect(live).toBe(0));
  });
});

describe("Clients that stop reading", () => {
  it("A client that stops reading has little buffered and misses no events when it continues", async () => {
    // More bytes than the kernel and both sockets buffer: unread events have to stay in the log.
    const text = "x".repeat(64 * 1024);
    const count = 400;
    for (let at = 0; at < count; at++) {
      const delta = { type: "text.delta", messageId: "msg_1", block: 0, text } as const;
      await sessions.log(sessionId, delta);
    }
    const answering = answeringResponse();
    const client = await sseClient(portal, events);
    const response = await answering;
    const written = await stuck(response);
    expect(written).toBeGreaterThan(text.length);
    expect(written).toBeLessThan(count * text.length);
    expect(response.writableLength).toBeGreaterThan(0);
    expect(response.writableLength).toBeLessThan(4 * text.length);
    expect(await client.take(count + 1)).toEqual(seenOf(await logged()));
    client.close();
  });

  it("Large events do not increase the buffered bytes of a client that stops reading", async () => {
    await logMany(40, 1_000_000);
    const { response, client } = await stuckClient();
    expect(response.writableLength).toBeGreaterThan(0);
    // Node signals backpressure at its high-water mark, so a short tail of an event may be buffered with the next chunk.
    const taken = response.socket?.writableHighWaterMark ?? 0;
    expect(response.writableLength).toBeLessThan(taken + PIECE_BYTES + 1000);
    client.close();
  });

  it("No further events are read from the log until the client continues reading", async () => {
    await logMany(40, 1_000_000);
    let taken = 0;
    const subscribe = sessions.subscribe.bind(sessions);
    // Batches with a single event each, as a store on disk returns events of this size.
    sessions.subscribe = async function* (...given) {
      for await (const { events: some, ...batch } of subscribe(...given)) {
        for (const event of some) {
          taken += 1;
          yield { ...batch, events: [event] };
        }
      }
    };
    const { response, client } = await stuckClient();
    const written = response.socket?.bytesWritten ?? 0;
    expect(written).toBeGreaterThan(0);
    // The first event is short.
    expect((taken - 1) * 1_000_000 - written).toBeLessThan(1_000_000);
    expect(await client.take(41)).toEqual(seenOf(await logged()));
    client.close();
  });

  it("A client that reads nothing for five minutes is disconnected and resumes from its cursor", async () => {
    await logMany(40, 1_000_000);
    const { response, client } = await stuckClient();
    const { socket } = response;
    clock.advance(299_999);
    await settled(() => clock.pending);
    expect(socket?.destroyed).toBe(false);
    clock.advance(1);
    expect(socket?.destroyed).toBe(true);
    await eventually(() => expect(clock.pending).toBe(0));
    const seen: Seen[] = [];
    await expect(
      (async () => {
        for (;;) seen.push(...(await client.take(1)));
      })(),
    ).rejects.toMatchObject({ code: "ECONNRESET" });
    const again = await sseClient(portal, events, { "last-event-id": seen.at(-1)?.id ?? "" });
    seen.push(...(await again.take(41 - seen.length)));
    expect(seen).toEqual(seenOf(await logged()));
    again.close();
  });

  it("A client is not disconnected if it reads occasionally or nothing is waiting for it", async () => {
    await logMany(40, 1_000_000);
    const { response, client } = await stuckClient();
    const seen: Seen[] = [];
    while (seen.length < 41) {
      clock.advance(200_000);
      seen.push(...(await client.take(Math.min(8, 41 - seen.length))));
      await settled(() => response.socket?.bytesWritten ?? 0);
    }
    clock.advance(900_000);
    await settled(() => clock.pending);
    await sessions.log(sessionId, { type: "session.title_changed", title: "B" });
    expect([...seen, ...(await client.take(1))]).toEqual(seenOf(await logged()));
    client.close();
  });

  it("A client that stops reading does not delay other clients", async () => {
    const stuck = await portal.begin("GET", events);
    await once(stuck, "readable");
    const client = await sseClient(portal, events);
    await client.take(1);
    const text = "x".repeat(256 * 1024);
    for (let at = 0; at < 100; at++) {
      const delta = { type: "text.delta", messageId: "msg_1", block: 0, text } as const;
      const appended = await sessions.log(sessionId, delta);
      expect(await client.take(1)).toEqual(seenOf(appended));
    }
    client.close();
    stuck.destroy();
  });
});

describe("Many clients", () => {
  it("Each event is encoded once for all clients, live and during catch-up", async () => {
    const stringify = vi.spyOn(JSON, "stringify");
    onTestFinished(() => stringify.mockRestore());
    // The log measures an event without its position.
    const encoded = (): unknown[] =>
      stringify.mock.calls
        .map(([value]) => (isPlaced(value) ? value.seq : undefined))
        .filter((seq) => seq !== undefined);
    const live = await Promise.all(Array.from({ length: 10 }, () => sseClient(portal, events)));
    await Promise.all(live.map((client) => client.take(1)));
    await sessions.log(sessionId, ...beforeApproval());
    const { length } = await logged();
    const streams = await Promise.all(live.map((client) => client.take(length - 1)));
    const later = await Promise.all(Array.from({ length: 10 }, () => sseClient(portal, events)));
    for (const client of later) streams.push((await client.take(length)).slice(1));
    expect(encoded()).toEqual(Array.from({ length }, (_, index) => index + 1));
    for (const stream of streams) expect(stream).toEqual(streams[0]);
    for (const client of [...live, ...later]) client.close();
  });
});

/** Same value as in `src/surfaces/portal/event-frames.ts`. */
const PIECE_BYTES = 64 * 1024;

function isPlaced(value: unknown): value is { readonly seq: unknown } {
  return typeof value === "object" && value !== null && "seq" in value && "event" in value;
}

/** More bytes than the kernel and both sockets buffer. */
async function logMany(count: number, length: number): Promise<void> {
  const text = "x".repeat(length);
  for (let at = 0; at < count; at++) {
    const delta = { type: "text.delta", messageId: "msg_1", block: 0, text } as const;
    await sessions.log(sessionId, delta);
  }
}

/**
 * Waits until no more bytes are sent to a client which does not read, while other requests are answered. Returns the
 * number of bytes sent.
 */
async function stuck(response: ServerResponse): Promise<number> {
  const written = (): number => response.socket?.bytesWritten ?? 0;
  for (let before = -1; response.writableLength === 0 || written() !== before;) {
    before = written();
    for (let time = 0; time < 20; time++) await portal.get("/api/sessions");
  }
  return written();
}

/** A connected client which does not read, after sending has stalled, with the server's response object. */
async function stuckClient(): Promise<{ response: ServerResponse; client: SseClient }> {
  const answering = answeringResponse();
  const client = await sseClient(portal, events);
  const response = await answering;
  await stuck(response);
  return { response, client };
}

/** The server's response object of the next request, to inspect its write buffer. */
function answeringResponse(): Promise<ServerResponse> {
  return new Promise((resolve) => {
    const started = (message: unknown): void => {
      unsubscribe("http.server.request.start", started);
      const { response } = Object(message);
      if (response instanceof ServerResponse) resolve(response);
    };
    subscribe("http.server.request.start", started);
  });
}
