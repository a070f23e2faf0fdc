import { describe, expect, it } from "vitest";
import { createFakeClock } from "../../support/fake-clock.ts";
import { breaks, hangs, says, wants } from "../../support/session/scripted-provider.ts";
import type { Fields } from "../support/recorded-stream.ts";
import {
  ask,
  called,
  echoes,
  gate,
  get,
  lastOf,
  outputOf,
  saysWhen,
  textIn,
  tools,
  worldOf,
} from "./responses-world.ts";
import { talkWith } from "./talk.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const refusalIn = (frames: readonly Fields[]): unknown => frames.at(-1);
const refused = (code: string, status = 400) => ({ type: "error", status, error: { code } });

describe("WebSocket connections", () => {
  it.each(["/responses", "/../responses"])(
    "A WebSocket at %s runs a turn, with and without /v1 [OR-76] [OR-69]",
    async (path) => {
      const world = await worldOf([echoes()]);
      const talk = await talkWith(world, path);
      const frames = await talk.turn({ input: "One" });
      expect(frames[0]).toMatchObject({ type: "response.created", sequence_number: 0 });
      expect(textIn(lastOf(frames))).toBe("You said: One");
    },
  );

  it("A WebSocket runs one response after the other and queues further requests [OR-76]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen("One ", more, "two"), echoes()]);
    const talk = await talkWith(world);
    talk.send({ type: "response.create", input: "First" });
    await called(world, 1);
    talk.send({ type: "response.create", input: "Second" });
    talk.send({ type: "response.create", input: "Third" });
    more.open();
    const texts = [await talk.end(), await talk.end(), await talk.end()].map((frames) =>
      textIn(lastOf(frames)),
    );
    expect(texts).toEqual(["One two", "You said: Second", "You said: Third"]);
    expect(world.heard()).toEqual(["First", "Second", "Third"]);
  });

  it("A WebSocket with too many queued requests is closed [OR-76]", async () => {
    const world = await worldOf([hangs()], { socketLimits: { waitingTexts: 4 } });
    const talk = await talkWith(world);
    for (let at = 0; at < 8; at += 1) talk.send({ type: "response.create", input: `${at}` });
    expect(await talk.closed).toBe(1008);
  });

  it("A response that was not stored can be continued on its own WebSocket only [OR-76] [OR-39]", async () => {
    const world = await worldOf([echoes()]);
    const talk = await talkWith(world);
    const first = lastOf(await talk.turn({ input: "One", store: false }));
    const next = { input: "Two", previous_response_id: first["id"], store: false };
    const other = await talkWith(world);
    const notFound = refused("previous_response_not_found", 404);
    expect(refusalIn(await other.turn(next))).toMatchObject(notFound);
    expect((await ask(world, next)).status).toBe(404);
    expect((await get(world, `/responses/${String(first["id"])}`)).status).toBe(404);
    expect(textIn(lastOf(await talk.turn(next)))).toBe("You said: Two");
    expect(refusalIn(await talk.turn({ ...next, input: "Not the last" }))).toMatchObject({
      status: 400,
      error: { code: "previous_response_not_latest" },
    });
    expect(world.heard()).toEqual(["One", "Two"]);
  });

  it("A WebSocket continues a stored response of any route [OR-76]", async () => {
    const world = await worldOf([echoes()]);
    const { body } = await ask(world, { input: "One" });
    const talk = await talkWith(world);
    const next = lastOf(await talk.turn({ input: "Two", previous_response_id: body["id"] }));
    expect(next["session_id"]).toBe(body["session_id"]);
    const third = await ask(world, { input: "Three", previous_response_id: next["id"] });
    expect(third.status).toBe(200);
  });

  it("A WebSocket forgets a response after a refused or failed attempt to continue it [OR-76]", async () => {
    const world = await worldOf([echoes(), echoes(), breaks("service_failed")]);
    const talk = await talkWith(world);
    const next = (first: Fields, more: object) => ({
      previous_response_id: first["id"],
      store: false,
      input: "Two",
      ...more,
    });
    const one = lastOf(await talk.turn({ input: "One", store: false }));
    expect(refusalIn(await talk.turn(next(one, { temperature: "hot" })))).toMatchObject({
      status: 400,
      error: { param: "temperature" },
    });
    const notFound = refused("previous_response_not_found", 404);
    expect(refusalIn(await talk.turn(next(one, {})))).toMatchObject(notFound);
    const two = lastOf(await talk.turn({ input: "Again", store: false }));
    expect(lastOf(await talk.turn(next(two, {})))).toMatchObject({ status: "failed" });
    expect(refusalIn(await talk.turn(next(two, { input: "Three" })))).toMatchObject(notFound);
  });

  it.each([
    ["invalid JSON", "{", "invalid_json", null],
    ["a value that is not an object", "[]", "invalid_json", null],
    ["an unknown type", { type: "response.cancel" }, "unknown_frame", "type"],
    ["no type", { input: "Hi" }, "unknown_frame", "type"],
    ["a stream option", { type: "response.create", stream: false }, "unsupported_field", "stream"],
    [
      "a background option",
      { type: "response.create", background: false },
      "unsupported_field",
      "background",
    ],
    [
      "stream_options",
      { type: "response.create", stream_options: null },
      "unsupported_field",
      "stream_options",
    ],
    [
      "no input",
      { type: "response.create", input: "Hi", generate: false },
      "unsupported_field",
      "generate",
    ],
    [
      "an unknown agent",
      { type: "response.create", input: "Hi", model: "x" },
      "model_not_found",
      "model",
    ],
  ])(
    "A frame with %s is refused, and the WebSocket stays usable [OR-76]",
    async (_, frame, code, param) => {
      const world = await worldOf([echoes()]);
      const talk = await talkWith(world);
      talk.send(frame);
      expect(await talk.next()).toMatchObject({ type: "error", error: { code, param } });
      expect(world.heard()).toEqual([]);
      expect(textIn(lastOf(await talk.turn({ input: "One" })))).toBe("You said: One");
    },
  );

  it("A WebSocket at its maximum age reports the limit and ends its running turn [OR-76]", async () => {
    const clock = createFakeClock();
    const world = await worldOf([hangs()], { clock, socketLimits: { pingMs: 7_200_000 } });
    const talk = await talkWith(world);
    talk.send({ type: "response.create", input: "One" });
    await called(world, 1);
    clock.advance(3_600_000);
    let last: Fields = {};
    while (last["type"] !== "error") last = await talk.next();
    expect(last).toMatchObject(refused("websocket_connection_limit_reached"));
    const { sessions: found } = await world.sessions.list({ limit: 1 });
    const { sessionId = "" } = found[0] ?? {};
    await waitUntil(async () => {
      clock.advance(100);
      return (await world.sessions.find(sessionId))?.state === "idle";
    });
    await talk.closed;
  });

  it("A WebSocket that closes ends only its own turn [OR-76] [OR-47] [OR-50]", async () => {
    const world = await worldOf([hangs()]);
    const [one, other] = [await talkWith(world), await talkWith(world)];
    one.send({ type: "response.create", input: "One" });
    other.send({ type: "response.create", input: "Other" });
    await called(world, 2);
    one.socket.close();
    const states = async () =>
      (await world.sessions.list({ limit: 2 })).sessions.map(({ state }) => state).toSorted();
    await waitUntil(async () => (await states()).includes("idle"));
    expect(new Set(await states()).size).toBe(2);
  });

  it("A WebSocket returns client tool calls and accepts their results [OR-76] [OR-53]", async () => {
    const world = await worldOf([wants({ id: "c1", name: "look" }), says("Seen")]);
    const talk = await talkWith(world);
    const begun = lastOf(await talk.turn({ input: "Look", store: false, tools: tools("look") }));
    const call = outputOf(begun).find(({ type }) => type === "function_call");
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "ok" };
    const next = { previous_response_id: begun["id"], input: [output], store: false };
    expect(textIn(lastOf(await talk.turn(next)))).toBe("Seen");
  });

  it("A WebSocket is refused without a valid key that may prompt [OR-36]", async () => {
    const keys = [
      { name: "ann", key: "sk-of-ann-0123456789" },
      { name: "eve", key: "sk-of-eve-0123456789", rights: ["approve"] as const },
    ];
    const world = await worldOf([echoes()], { keys });
    const status = async (key: string): Promise<string> => {
      const error = await talkWith(world, "/responses", key).catch((thrown: unknown) => thrown);
      return error instanceof Error ? error.message : "open";
    };
    expect(await status("sk-of-ann-0123456789")).toBe("open");
    expect(await status("sk-of-eve-0123456789")).toContain("403");
    expect(await status("sk-nobody-0123456789")).toContain("401");
  });

  it("Every frame of a WebSocket counts against the rate limit of its key [OR-46]", async () => {
    const world = await worldOf([echoes()], { rates: { requestsPerMinute: 1, burst: 2 } });
    const talk = await talkWith(world);
    expect(textIn(lastOf(await talk.turn({ input: "One" })))).toBe("You said: One");
    expect(refusalIn(await talk.turn({ input: "Two" }))).toMatchObject(
      refused("rate_limit_exceeded", 429),
    );
  });
});
