import { connect } from "node:net";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { SpanlineError } from "../../../src/domain/errors.ts";
import type { Fields } from "../support/recorded-stream.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  breaks,
  createTurnEnd,
  hangs,
  refuses,
  says,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  ask,
  called,
  errorIn,
  gate,
  get,
  lastOf,
  openStream,
  outputOf,
  saysWhen,
  textIn,
  worldOf,
  type World,
} from "./responses-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const HI = { input: "Hi" };

describe("Streams", () => {
  it("The first text is streamed while the agent is still sending [OR-20] [SD-14]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen("One ", more, "two")]);
    const stream = await openStream(world, HI);
    const seen = await stream.until("response.output_text.delta");
    expect(seen.at(-1)).toMatchObject({ delta: "One " });
    more.open();
    expect(textIn(lastOf(await stream.rest()))).toBe("One two");
  });

  it("A silent stream gets keep-alive comments and no other events [OR-21]", async () => {
    const clock = createFakeClock();
    const more = gate();
    const world = await worldOf([saysWhen("One ", more, "two")], { clock });
    const stream = await openStream(world, HI);
    await stream.until("response.output_text.delta");
    const quiet: unknown[] = [];
    for (let beat = 0; beat < 3; beat += 1) {
      const next = stream.next();
      await waitUntil(() => clock.pending > 1);
      clock.advance(15_000);
      quiet.push(await next);
    }
    expect(quiet).toEqual(["quiet", "quiet", "quiet"]);
    more.open();
    const rest = stream.rest();
    await waitUntil(() => (clock.advance(20), world.provider.invocations.length === 1));
    const types = (await passingUntil(clock, rest)).map(({ type }) => type);
    expect(types.filter((type) => type === "response.in_progress")).toEqual([]);
    expect(types.at(-1)).toBe("response.completed");
  });

  it("A stream whose client stops reading applies backpressure through the log and is closed [OR-23]", async () => {
    const clock = createFakeClock();
    const piece = "x".repeat(64 * 1024);
    const flood: ProviderScript = saysWhen(...Array.from({ length: 600 }, () => piece));
    const world = await worldOf([flood], { clock, settings: { stalledMs: 60_000 } });
    const { hostname, port } = new URL(world.baseUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.pause();
    const body = JSON.stringify({ input: "Hi", stream: true });
    socket.write(
      `POST /v1/responses HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    await called(world, 1);
    const { sessions: found } = await world.sessions.list({ limit: 1 });
    const { sessionId = "" } = found[0] ?? {};
    await waitUntil(async () => {
      clock.advance(1000);
      return (await world.sessions.find(sessionId))?.state === "idle";
    });
    // The closed connection may surface as a reset, which `once` would treat as a failure.
    const closed = new Promise((resolve) => {
      socket.on("close", resolve).on("error", () => {});
    });
    for (let at = 0; at < 5; at += 1) {
      clock.advance(60_000);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    socket.resume();
    await closed;
    await waitUntil(() => world.lines.length > 0);
    const { end, bytesOut } = JSON.parse(world.lines[0] ?? "{}");
    expect(end).toBe("gone");
    // Of 39 MB, only the bytes in system buffers and in the write queue were sent.
    expect(bytesOut).toBeLessThan(16_000_000);
  });
});

/** Advances the clock until the promise settles; coalescing timers use the same clock. */
async function passingUntil<Value>(
  clock: ReturnType<typeof createFakeClock>,
  expectedValue: Promise<Value>,
): Promise<Value> {
  let isThere = false;
  void expectedValue.then(() => (isThere = true));
  await waitUntil(() => {
    clock.advance(20);
    return isThere;
  });
  return expectedValue;
}

describe("Agents that fail before any output", () => {
  const CLASSES: readonly [ErrorCode, number, "true" | "false"][] = [
    ["validation_failed", 400, "false"],
    ["unauthorized", 401, "false"],
    ["access_denied", 403, "false"],
    ["not_found", 404, "false"],
    ["throttled", 429, "true"],
    ["quota_exceeded", 429, "false"],
    ["agent_failed", 502, "false"],
    ["service_failed", 502, "false"],
    ["unknown_exception", 502, "false"],
    ["unexpected_answer", 502, "false"],
    ["connect_failed", 502, "true"],
  ];

  it.each(
    CLASSES.flatMap(([code, status, retry]) =>
      [false, true].map((stream) => [code, status, retry, stream] as const),
    ),
  )(
    "A failure with %s is HTTP %i with x-should-retry %s (streamed: %s) [OR-22] [OR-46] [OR-51]",
    async (code, status, retry, stream) => {
      const world = await worldOf([refuses(code)]);
      const answer = await ask(world, { ...HI, stream });
      const type = answer.headers.get("content-type");
      expect(type).toContain("application/json");
      expect([answer.status, errorIn(answer)["code"]]).toEqual([status, code]);
      expect(answer.headers.get("x-should-retry")).toBe(retry);
      expect(answer.headers.get("retry-after")).toBe(retry === "true" ? "2" : null);
      expect(answer.headers.get("x-request-id")).toMatch(/./);
    },
  );

  it.each(["first_event_timeout", "idle_timeout", "deadline_exceeded"] as const)(
    "A failure with %s is HTTP 504 with the same code if no approver decides how to continue [OR-51] [OR-52]",
    async (code) => {
      const world = await worldOf([refuses(code)], { settings: { approvalMs: 1 } });
      const answer = await ask(world, HI);
      expect([answer.status, errorIn(answer)["code"]]).toEqual([504, code]);
      expect(errorIn(answer)["type"]).toBe("server_error");
      expect(answer.headers.get("x-should-retry")).toBe("false");
    },
  );

  it("retry-after has the delay that the service named, rounded up to seconds [OR-51]", async () => {
    // eslint-disable-next-line require-yield
    const throttled: ProviderScript = async function* () {
      throw new SpanlineError("throttled", "Slow down", { details: { retryAfter: 16.2 } });
    };
    const world = await worldOf([throttled]);
    const answer = await ask(world, HI);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "17"]);
  });

  it.each([false, true])(
    "A turn that fails before any output is counted as failed (streamed: %s)",
    async (stream) => {
      const world = await worldOf([refuses("access_denied"), says("Hello")]);
      await ask(world, { ...HI, stream });
      expect(world.ends).toMatchObject([{ outcome: "failed" }]);
      await ask(world, HI);
      expect(world.ends).toMatchObject([{ outcome: "failed" }, { outcome: "completed" }]);
    },
  );
});

describe("Agents that fail after their first output", () => {
  const keepsAll = async (world: World, response: Fields): Promise<void> => {
    expect(response).toMatchObject({ status: "failed", error: { code: "service_failed" } });
    expect(outputOf(response)).toMatchObject([{ type: "message", status: "incomplete" }]);
    expect(textIn(response)).toBe("Half of");
    expect((await get(world, `/responses/${String(response["id"])}`)).body).toEqual(response);
  };

  it("A response that fails midway is returned as failed with its partial output [OR-22] [OR-26] [OR-46]", async () => {
    const world = await worldOf([breaks("service_failed")]);
    const answer = await ask(world, HI);
    expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([200, "false"]);
    await keepsAll(world, answer.body);
  });

  it("A stream that fails midway ends with an error and a failed response with its partial output [OR-22] [OR-26]", async () => {
    const world = await worldOf([breaks("service_failed")]);
    const events = await (await openStream(world, HI)).rest();
    expect(events.slice(-2)).toMatchObject([
      { type: "error", error: { code: "service_failed" } },
      { type: "response.failed" },
    ]);
    await keepsAll(world, lastOf(events));
  });

  it("A provider stream that stops without an end never completes a response [OR-26]", async () => {
    const cut: ProviderScript = async function* () {
      yield { type: "message.start", message: 0, role: "assistant" };
      yield { type: "text.delta", message: 0, block: 0, text: "Half of" };
      const failure = { code: "truncated_stream", message: "Cut", details: {} } as const;
      yield createTurnEnd({ outcome: "failed", failure });
    };
    const world = await worldOf([cut], { settings: { approvalMs: 1 } });
    const { body } = await ask(world, HI);
    expect(body).toMatchObject({
      status: "failed",
      output: [{ status: "incomplete" }],
      error: { code: "truncated_stream" },
    });
  });

  it.each([
    ["max_tokens", "max_output_tokens"],
    ["content_filtered", "content_filter"],
  ])("A response that stopped for %s is incomplete [OR-26]", async (reason, detail) => {
    const world = await worldOf([says("Half of", { outcome: "limited", reason })]);
    const { body } = await ask(world, HI);
    expect(body).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: detail },
      error: null,
    });
  });
});

describe("Clients that disconnect", () => {
  it.each([false, true])(
    "A client that disconnects stops the agent, and the session can be used at once (streamed: %s) [OR-47] [SD-14]",
    async (stream) => {
      const world = await worldOf([says("Hello"), hangs(), says("Again")]);
      const first = await ask(world, HI);
      const { id, session_id: conversation } = first.body;
      const next = { input: "Go", previous_response_id: id };
      if (stream) {
        const opened = await openStream(world, next);
        await opened.until("response.output_text.delta");
        opened.leave();
      } else {
        const controller = new AbortController();
        const abortedRequest = ask(world, next, { signal: controller.signal }).catch(() => "left");
        await called(world, 2);
        controller.abort();
        await abortedRequest;
      }
      const again = await ask(world, { input: "Still there?", conversation });
      expect([again.status, textIn(again.body)]).toEqual([200, "Again"]);
      expect(world.heard()).toEqual(["Hi", "Go", "Still there?"]);
    },
  );

  it("A turn continues if another client still follows it [OR-47] [OR-50]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen("One ", more, "two")]);
    const first = await openStream(world, HI);
    const [created] = await first.until("response.output_text.delta");
    const { id } = lastOf([created ?? {}]);
    const second = await openStream(world, undefined, {
      path: `/responses/${String(id)}?stream=true`,
    });
    await second.until("response.output_text.delta");
    first.leave();
    await waitUntil(() => world.lines.length > 0);
    more.open();
    expect(lastOf(await second.rest())).toMatchObject({ status: "completed" });
  });

  it("A turn continues after a disconnect with onDisconnect: finish [OR-47]", async () => {
    const more = gate();
    const settings = { onDisconnect: "finish" } as const;
    const world = await worldOf([saysWhen("One ", more, "two")], { settings });
    const stream = await openStream(world, HI);
    const [created] = await stream.until("response.output_text.delta");
    const { id } = lastOf([created ?? {}]);
    stream.leave();
    await waitUntil(() => world.lines.length > 0);
    more.open();
    const path = `/responses/${String(id)}`;
    await waitUntil(async () => (await get(world, path)).body["status"] !== "in_progress");
    const { body } = await get(world, path);
    expect([body["status"], textIn(body)]).toEqual(["completed", "One two"]);
  });
});

it("An agent that fails after a long silence gives a response without streaming its error status [OR-22]", async () => {
  const clock = createFakeClock();
  const silence = gate();
  // eslint-disable-next-line require-yield
  const late: ProviderScript = async function* () {
    await silence.opened;
    throw new SpanlineError("service_failed", "Gone");
  };
  const world = await worldOf([late], { clock });
  const responsePromise = ask(world, HI);
  await called(world, 1);
  let turns = 0;
  // Repeated, because the silence timer starts only after the first read.
  await waitUntil(() => (clock.advance(10_000), (turns += 1) > 50));
  silence.open();
  const answer = await passingUntil(clock, responsePromise);
  expect([answer.status, errorIn(answer)["code"]]).toEqual([502, "service_failed"]);
  expect(answer.headers.get("x-spanline-response")).toMatch(/^resp_ses_/);
});

it("An agent that fails after a long silence ends its stream with a failed response [OR-22]", async () => {
  const clock = createFakeClock();
  const silence = gate();
  // eslint-disable-next-line require-yield
  const late: ProviderScript = async function* () {
    await silence.opened;
    throw new SpanlineError("service_failed", "Gone");
  };
  const world = await worldOf([late], { clock });
  const opening = openStream(world, HI);
  const stream = await passingUntil(clock, opening);
  silence.open();
  const events = await passingUntil(clock, stream.rest());
  expect(events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "error",
    "response.failed",
  ]);
  expect(lastOf(events)).toMatchObject({ error: { code: "service_failed" }, output: [] });
});

it("A response that failed at once can be retrieved as failed, whole and as a stream [OR-22] [OR-48]", async () => {
  const world = await worldOf([refuses("service_failed")]);
  const { headers } = await ask(world, HI);
  const path = `/responses/${headers.get("x-spanline-response")}`;
  const { body } = await get(world, path);
  expect(body).toMatchObject({ status: "failed", error: { code: "service_failed" }, output: [] });
  const replay = await openStream(world, undefined, { path: `${path}?stream=true` });
  expect([replay.status, lastOf(await replay.rest())]).toEqual([200, body]);
  const next = await ask(world, { input: "Again", previous_response_id: body["id"] });
  expect(next.status).toBe(502);
});
