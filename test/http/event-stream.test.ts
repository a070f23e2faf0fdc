import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { createEventStream, formatEvent } from "../../src/http/routing/event-stream.ts";
import { createFakeClock, advanceUntil, type FakeClock } from "../support/fake-clock.ts";
import { served, type Served } from "./test-server.ts";
import { waitUntil } from "../support/with-deadline.ts";

const open: Served[] = [];

afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function started(
  events: (gone: AbortSignal) => AsyncIterable<string>,
  clock: FakeClock = createFakeClock(),
): Promise<Served> {
  const server = await served([
    {
      method: "GET",
      path: "/events",
      handle: async ({ disconnectSignal }) =>
        createEventStream(events(disconnectSignal), { clock, headers: { "x-own": "1" } }),
    },
  ]);
  open.push(server);
  return server;
}

describe("Event streams", () => {
  it("Each event is written whole, with headers that prevent proxies from buffering [OR-19]", async () => {
    const texts = ["é".repeat(3), "🙂".repeat(30_000), "x"].map((data) =>
      formatEvent("delta", data),
    );
    const server = await started(async function* () {
      yield* texts;
    });
    const socket = await server.raw(
      "GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    );
    const output = Buffer.concat(await socket.toArray());
    const end = output.indexOf("\r\n\r\n") + 4;
    expect(output.subarray(0, end).toString().toLowerCase()).toMatch(
      /^http\/1\.1 200 ok\r\n(?=[\s\S]*content-type: text\/event-stream; charset=utf-8\r\n)(?=[\s\S]*cache-control: no-store\r\n)(?=[\s\S]*x-accel-buffering: no\r\n)(?=[\s\S]*x-own: 1\r\n)(?=[\s\S]*x-request-id: req_1\r\n)/,
    );
    // Each write is a single HTTP chunk.
    expect(chunksOf(output.subarray(end))).toEqual(texts);
  });

  it("Pipelined streams are sent in order, and an empty chunk does not end a stream", async () => {
    const server = await started(async function* () {
      yield* ["data: 1\n\n", "", "data: 2\n\n"];
    });
    const request = "GET /events HTTP/1.1\r\nHost: localhost\r\n";
    const socket = await server.raw(`${request}\r\n${request}Connection: close\r\n\r\n`);
    const output = Buffer.concat(await socket.toArray());
    const [, ...answers] = output.toString("latin1").split("HTTP/1.1 200 OK\r\n");
    const bodies = answers.map((answer) => answer.slice(answer.indexOf("\r\n\r\n") + 4));
    const expectedFrames = ["data: 1\n\n", "data: 2\n\n"];
    expect(bodies.map((body) => chunksOf(Buffer.from(body)))).toEqual([
      expectedFrames,
      expectedFrames,
    ]);
  });

  it("An HTTP/1.0 client gets events without chunked encoding", async () => {
    const server = await started(async function* () {
      yield* ["data: 1\n\n", "data: 2\n\n"];
    });
    const socket = await server.raw("GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n");
    const output = Buffer.concat(await socket.toArray()).toString("latin1");
    expect(output.slice(output.indexOf("\r\n\r\n") + 4)).toBe("data: 1\n\ndata: 2\n\n");
  });

  it("All clients get the same events", async () => {
    const events = Array.from({ length: 50 }, (_, at) => formatEvent("delta", `é ${at}`));
    const server = await started(async function* () {
      for (const event of events) {
        yield event;
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const all = await Promise.all(
      Array.from({ length: 5 }, async () => (await server.call("GET", "/events")).text),
    );
    expect(all).toEqual(all.map(() => events.join("")));
  });

  it("Each line of an event has its own data line", () => {
    expect(formatEvent("a", "1\r\n2\n3\r4")).toBe(
      "event: a\ndata: 1\ndata: 2\ndata: 3\ndata: 4\n\n",
    );
    expect(formatEvent(undefined, "[DONE]")).toBe("data: [DONE]\n\n");
  });

  it("A comment is sent every 15 seconds while no event arrives [OR-21]", async () => {
    const clock = createFakeClock();
    let proceed: () => void = () => {};
    const more = new Promise<void>((resolve) => (proceed = resolve));
    const server = await started(async function* () {
      yield formatEvent("a", "1");
      await more;
      yield formatEvent("b", "2");
    }, clock);
    const response = await server.begin("GET", "/events");
    const next = async (): Promise<string> => String((await once(response, "data"))[0]);
    expect(await next()).toBe("event: a\ndata: 1\n\n");
    const quiet = next();
    await waitUntil(() => clock.pending > 0);
    clock.advance(14_999);
    clock.advance(1);
    expect(await quiet).toBe(":\n\n");
    const second = next();
    proceed();
    expect(await second).toBe("event: b\ndata: 2\n\n");
  });

  it("Events are produced no faster than they are read, and a client that reads nothing is disconnected [OR-23]", async () => {
    const clock = createFakeClock();
    let made = 0;
    let resolveEnd: () => void = () => {};
    const isLeft = new Promise<void>((resolve) => (resolveEnd = resolve));
    const server = await started(async function* () {
      try {
        for (; ; made++) yield formatEvent("a", "x".repeat(64 * 1024));
      } finally {
        resolveEnd();
      }
    }, clock);
    const socket = await server.raw("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    socket.pause();
    await advanceUntil(clock, isLeft);
    // Only the events in system buffers.
    expect(made).toBeLessThan(1000);
    socket.destroy();
  });
});

/** Decodes the chunks of a chunked body. */
function chunksOf(body: Buffer): string[] {
  const chunks: string[] = [];
  for (let at = 0; ;) {
    const line = body.indexOf("\r\n", at);
    const length = Number.parseInt(body.subarray(at, line).toString(), 16);
    if (length === 0) return chunks;
    chunks.push(body.subarray(line + 2, line + 2 + length).toString());
    at = line + 4 + length;
  }
}
