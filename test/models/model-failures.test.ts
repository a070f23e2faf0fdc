import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { anthropic } from "../../src/models/anthropic.ts";
import type { Model, ModelSettings } from "../../src/models/model.ts";
import { openAiCompatible } from "../../src/models/openai-compatible.ts";
import { createHttpClient, type SendHttp } from "../../src/platform/http-client.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createInstantClock } from "../support/instant-clock.ts";
import { startPeer, type PeerResponder, type Peer } from "../support/server/scripted-peer.ts";
import { ask, eventsOf, HELLO, refusalOf } from "./run-model.ts";

const KEY = "sk-very-secret";

function chunk(delta: object, reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return `data: ${JSON.stringify({ id: "c", choices })}\n\n`;
}

const HI = chunk({ role: "assistant", content: "Hi" });
const ROLE = chunk({ role: "assistant" });
const STOP = chunk({}, "stop");
const DONE = "data: [DONE]\n\n";

function modelAt({ url }: Pick<Peer, "url">, settings: ModelSettings = {}): Model {
  return openAiCompatible({ model: "m", baseUrl: url, key: KEY, ...settings });
}

function failing(type: string): string {
  return `data: ${JSON.stringify({ error: { message: "because", type } })}\n\n`;
}

function startStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "x-request-id": "req-1" });
}

const saysHi: PeerResponder = (response) => {
  startStream(response);
  response.end(HI + STOP + DONE);
};

/** Responds with each responder in order; the last responder is used for all further requests. */
function inTurn(...answers: readonly PeerResponder[]): PeerResponder {
  let count = 0;
  return (response, request) => answers[Math.min(count++, answers.length - 1)]?.(response, request);
}

function refusing(
  status: number,
  headers: { readonly [name: string]: string } = {},
  body = "{}",
): PeerResponder {
  return (response) => {
    response.writeHead(status, headers);
    response.end(body);
  };
}

const UNLIMITED = { firstEvent: Infinity, idle: Infinity };

/** Delays between the attempts of a request. Excludes the final second, in which the stream may close. */
async function waitsFor(answer: PeerResponder, random = 0.5): Promise<readonly number[]> {
  const clock = createInstantClock();
  const peer = await startPeer(answer);
  const turn = await ask(modelAt(peer, { clock, limits: UNLIMITED, random: () => random }));
  expect(turn.text).toBe("Hi");
  return clock.waits.slice(0, peer.requests.length - 1);
}

describe("Retries of model requests", () => {
  it.each([408, 429, 500, 502, 503, 504, 520, 529])(
    "A request is retried after %i with increasing delays [RMA-P1-22]",
    async (status) => {
      expect(await waitsFor(inTurn(refusing(status), refusing(status), saysHi))).toEqual([
        375, 750,
      ]);
    },
  );

  it("A delay is random between half of its time and all of it [RMA-P1-22]", async () => {
    expect(await waitsFor(inTurn(refusing(503), saysHi), 0)).toEqual([250]);
    expect(await waitsFor(inTurn(refusing(503), saysHi), 0.999)).toEqual([499.75]);
  });

  it("A delay follows retry-after in seconds, milliseconds or as a date [RMA-P1-22]", async () => {
    const dates = {
      date: "Mon, 16 Nov 2026 00:00:00 GMT",
      "retry-after": "Mon, 16 Nov 2026 00:00:09 GMT",
    };
    expect(await waitsFor(inTurn(refusing(429, { "retry-after": "7" }), saysHi))).toEqual([7000]);
    expect(await waitsFor(inTurn(refusing(429, { "retry-after-ms": "70" }), saysHi))).toEqual([70]);
    expect(await waitsFor(inTurn(refusing(429, dates), saysHi))).toEqual([9000]);
    expect(await waitsFor(inTurn(refusing(429, { "retry-after": "soon" }), saysHi))).toEqual([375]);
  });

  it.each([
    ["requests a delay of more than a minute", 429, { "retry-after": "61" }, "throttled"],
    ["forbids a retry", 503, { "x-should-retry": "false" }, "service_failed"],
    ["does not support the request", 501, {}, "service_failed"],
  ])("A request is not retried if the server %s", async (_, status, headers, code) => {
    const peer = await startPeer(refusing(status, headers));
    expect(await refusalOf(modelAt(peer))).toMatchObject({ code, status });
    expect(peer.requests).toHaveLength(1);
  });

  it("A request fails after its maximum number of attempts", async () => {
    const clock = createInstantClock();
    const peer = await startPeer(refusing(503));
    const settings = { clock, limits: UNLIMITED, maxAttempts: 2 };
    expect(await refusalOf(modelAt(peer, settings))).toMatchObject({ code: "service_failed" });
    expect(peer.requests).toHaveLength(2);
  });

  it("A request is retried if the connection is lost before a response", async () => {
    const lost: PeerResponder = (response) => void response.destroy();
    expect(await waitsFor(inTurn(lost, saysHi))).toEqual([375]);
  });

  const unsaid: readonly (readonly [string, PeerResponder])[] = [
    ["is lost", (response) => void response.write(": wait\n\n", () => response.destroy())],
    ["ends", (response) => void response.end()],
    ["fails", (response) => void response.end(failing("server_error"))],
    ["fails as busy", (response) => void response.end(failing("rate_limit_exceeded"))],
    ["begins a message and fails", (response) => void response.end(ROLE + failing("error"))],
  ];

  it.each(unsaid)(
    "A request is retried if the response %s before its first text [RMA-P1-22]",
    async (_, rest) => {
      const broken: PeerResponder = (response, request) => {
        startStream(response);
        rest(response, request);
      };
      expect(await waitsFor(inTurn(broken, saysHi))).toEqual([375]);
    },
  );

  it("A request is not retried if the stream reports an invalid request", async () => {
    const peer = await startPeer((response) => {
      startStream(response);
      response.end(failing("invalid_request_error"));
    });
    expect((await ask(modelAt(peer))).end).toMatchObject({
      outcome: "failed",
      failure: { code: "validation_failed" },
    });
    expect(peer.requests).toHaveLength(1);
  });

  it("Every delay is reported when it starts, and the final failure ends the turn", async () => {
    const peer = await startPeer(
      inTurn(refusing(429, { "retry-after": "7" }), (response) => {
        startStream(response);
        response.end(ROLE + failing("server_error"));
      }),
    );
    const settings = { clock: createInstantClock(), limits: UNLIMITED, maxAttempts: 2 };
    const events = await eventsOf(modelAt(peer, settings));
    expect(events).toMatchObject([
      {
        type: "activity",
        kind: "retry-wait",
        label: "HTTP 429. The next attempt is in 7 s",
        raw: { code: "throttled", milliseconds: 7000 },
      },
      { type: "message.start" },
      { type: "diagnostic", diagnostic: { code: "message_stop_missing" } },
      { type: "message.end" },
      { type: "end", outcome: "failed", failure: { code: "service_failed" } },
    ]);
    expect(peer.requests).toHaveLength(2);
  });

  it("A request is never retried after its first output [RMA-P1-22]", async () => {
    const peer = await startPeer((response) => {
      startStream(response);
      response.write(HI, () => response.destroy());
    });
    const turn = await ask(modelAt(peer));
    expect(turn).toMatchObject({
      text: "Hi",
      end: {
        outcome: "failed",
        failure: { code: "connection_lost", details: { phase: "stream", requestId: "req-1" } },
      },
    });
    expect(peer.requests).toHaveLength(1);
  });

  it("A delay ends when the caller aborts", async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const peer = await startPeer((response, request) => {
      refusing(503)(response, request);
      response.on("finish", () => setImmediate(() => controller.abort("enough")));
    });
    const error = await refusalOf(modelAt(peer, { clock }), controller.signal);
    expect(error).toMatchObject({ code: "aborted", cause: "enough" });
    expect(clock.pending).toBe(0);
    expect(peer.requests).toHaveLength(1);
  });
});

describe("Failed model requests", () => {
  it.each([
    [400, "invalid_request_error", "validation_failed"],
    [401, "invalid_request_error", "unauthorized"],
    [403, "permission_error", "access_denied"],
    [404, "not_found_error", "not_found"],
    [413, "request_too_large", "validation_failed"],
    [429, "insufficient_quota", "quota_exceeded"],
    [501, "api_error", "service_failed"],
  ])("A failure with %i %s has a Spanline error code", async (status, type, code) => {
    const body = JSON.stringify({ error: { message: "because", type, param: null, code: null } });
    const peer = await startPeer(refusing(status, { "x-request-id": "req-1" }, body));
    expect(await refusalOf(modelAt(peer))).toMatchObject({
      code,
      message: `${type} (HTTP ${status}): because`,
      details: { type, status, phase: "http", requestId: "req-1" },
    });
    expect(peer.requests).toHaveLength(1);
  });

  it("The page of a proxy is quoted", async () => {
    const peer = await startPeer(refusing(403, {}, "<h1>Blocked</h1>"));
    expect(await refusalOf(modelAt(peer))).toMatchObject({
      code: "access_denied",
      message: "HTTP 403",
      details: { body: "<h1>Blocked</h1>" },
    });
  });

  it("The key is never shown, even if the server echoes it", async () => {
    const error = { error: { message: `Incorrect API key: ${KEY}`, type: KEY } };
    const refused = await startPeer(refusing(401, {}, JSON.stringify(error)));
    const broken = await startPeer((response) => {
      startStream(response);
      response.end(`${HI}data: ${JSON.stringify(error)}\n\n`);
    });
    const thrown = await refusalOf(modelAt(refused));
    expect(thrown).toMatchObject({
      message: expect.stringContaining("Incorrect API key: [redacted]"),
    });
    const jsonText = JSON.stringify([thrown, String(thrown), (await ask(modelAt(broken))).end]);
    expect(jsonText).toContain("[redacted]");
    expect(jsonText).not.toContain(KEY);
  });

  it("A failed connection is reported with the address and a hint", async () => {
    const peer = await startPeer(saysHi);
    const model = openAiCompatible({
      model: "m",
      baseUrl: "http://127.0.0.1:1/v1",
      connectHint: "Start it",
      maxAttempts: 1,
    });
    expect(await refusalOf(model)).toMatchObject({
      code: "connect_failed",
      message: expect.stringMatching(/127\.0\.0\.1:1: .*ECONNREFUSED.*\. Start it$/),
    });
    expect(peer.requests).toEqual([]);
  });

  it("A response of another content type is quoted in the turn", async () => {
    const peer = await startPeer(refusing(200, { "content-type": "application/json" }, '{"hm":1}'));
    expect((await ask(modelAt(peer))).end).toMatchObject({
      outcome: "failed",
      failure: { code: "unexpected_content_type", details: { body: '{"hm":1}' } },
    });
  });

  it("An empty conversation is refused before anything is sent", async () => {
    const peer = await startPeer(saysHi);
    const call = modelAt(peer).stream({ messages: [] }, new AbortController().signal);
    await expect(call[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "invalid_message",
    });
    expect(peer.requests).toEqual([]);
  });
});

/** Yields the chunks and calls a function after each. */
async function* seen(
  chunks: AsyncIterable<Uint8Array>,
  then: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    setImmediate(then);
  }
}

describe("Time limits of model requests", () => {
  it("A missing response ends the request at the limit for the first event", async () => {
    const clock = createFakeClock();
    const peer = await startPeer(() => clock.advance(5000));
    const limits = { firstEvent: 5000 };
    expect(await refusalOf(modelAt(peer, { clock, limits }))).toMatchObject({
      code: "first_event_timeout",
      details: { phase: "http" },
    });
    await peer.waitUntilQuiet();
  });

  it("A stream without events ends at the limit for the first event, even if comments arrive", async () => {
    const clock = createFakeClock();
    const peer = await startPeer((response) => {
      startStream(response);
      response.write(": loading\n\n");
    });
    const send: SendHttp = async (request, signal) => {
      const answer = await createHttpClient().send(request, signal);
      return { ...answer, body: seen(answer.body, () => clock.advance(5000)) };
    };
    const turn = await ask(modelAt(peer, { clock, send, limits: { firstEvent: 5000 } }));
    expect(turn.end).toMatchObject({ failure: { code: "first_event_timeout" } });
    expect(clock.pending).toBe(0);
  });

  it("A silent model ends the request at the idle limit, which excludes the reader's own time", async () => {
    const clock = createFakeClock();
    const peer = await startPeer((response) => {
      startStream(response);
      response.write(HI);
    });
    const events: unknown[] = [];
    const model = modelAt(peer, { clock, limits: { idle: 5000 } });
    for await (const event of model.stream(HELLO, new AbortController().signal)) {
      clock.advance(5000);
      events.push(event);
      setImmediate(() => clock.advance(5000));
    }
    expect(events.at(-1)).toMatchObject({ outcome: "failed", failure: { code: "idle_timeout" } });
    await peer.waitUntilQuiet();
  });

  it("A stream that the server keeps open after its end is closed", async () => {
    const clock = createInstantClock();
    const peer = await startPeer((response) => {
      startStream(response);
      response.write(HI + STOP + DONE);
    });
    const turn = await ask(modelAt(peer, { clock, limits: UNLIMITED }));
    expect(turn).toMatchObject({ text: "Hi", end: { outcome: "completed" }, diagnostics: [] });
    expect(clock.waits).toEqual([1000]);
    await peer.waitUntilQuiet();
  });

  it("An abort by the caller ends the request before and during the response", async () => {
    const before = new AbortController();
    const mute = await startPeer(() => before.abort("enough"));
    expect(await refusalOf(modelAt(mute), before.signal)).toMatchObject({
      code: "aborted",
      cause: "enough",
    });
    const inside = new AbortController();
    const peer = await startPeer((response) => {
      startStream(response);
      response.write(HI);
    });
    const seen: unknown[] = [];
    const call = async (): Promise<void> => {
      for await (const event of modelAt(peer).stream(HELLO, inside.signal)) {
        seen.push(event);
        setImmediate(() => inside.abort("enough"));
      }
    };
    await expect(call()).rejects.toMatchObject({ code: "aborted", cause: "enough" });
    expect(seen).toHaveLength(2);
    await Promise.all([mute.waitUntilQuiet(), peer.waitUntilQuiet()]);
  });

  it("The connection is closed if the reader stops early", async () => {
    const clock = createFakeClock();
    const peer = await startPeer((response) => {
      startStream(response);
      response.write(HI);
    });
    for await (const event of modelAt(peer, { clock }).stream(
      HELLO,
      new AbortController().signal,
    )) {
      expect(event.type).toBe("message.start");
      break;
    }
    await peer.waitUntilQuiet();
    expect(clock.pending).toBe(0);
  });
});

describe("Observers of a model request", () => {
  it("An observer sees the bytes and the server's request id", async () => {
    const peer = await startPeer(saysHi);
    const seen: unknown[] = [];
    const events = modelAt(peer).stream(HELLO, new AbortController().signal, {
      onResponse: (requestId) => seen.push(requestId),
      tap: (chunk) => seen.push(Buffer.from(chunk).toString()),
    });
    for await (const event of events) if (event.type === "end") seen.push("end");
    expect(seen).toEqual(["req-1", HI + STOP + DONE, "end"]);
  });
});

describe("Aborts after the end", () => {
  it("An abort after the end of the response has no effect", async () => {
    const peer = await startPeer(saysHi);
    const controller = new AbortController();
    const request = { method: "POST", url: new URL(peer.url), headers: {} } as const;
    const { body } = await createHttpClient().send(request, controller.signal);
    const chunks = body[Symbol.asyncIterator]();
    await chunks.next();
    const last = chunks.next();
    controller.abort();
    expect(await last).toEqual({ done: true, value: undefined });
    await peer.waitUntilQuiet();
  });
});

describe("Overloaded Anthropic servers", () => {
  it("A request to an overloaded Anthropic server is retried", async () => {
    const overloaded =
      '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';
    const stream = 'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n';
    const peer = await startPeer(
      inTurn(refusing(529, {}, overloaded), (response) => {
        startStream(response);
        response.end(stream);
      }),
    );
    const model = anthropic({
      model: "m",
      key: KEY,
      baseUrl: peer.url,
      clock: createInstantClock(),
      limits: UNLIMITED,
    });
    expect((await ask(model)).end).toMatchObject({ outcome: "completed" });
    expect(peer.requests).toHaveLength(2);
  });
});
