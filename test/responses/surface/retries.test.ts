import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { temporaryFile } from "../../store/sqlite-support.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { refuses, says, wants } from "../../support/session/scripted-provider.ts";
import {
  ask,
  called,
  echoes,
  errorIn,
  gate,
  lastOf,
  openStream,
  outputOf,
  providerOf,
  saysWhen,
  textIn,
  tools,
  worldOf,
  type How,
  type World,
} from "./responses-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const KEYED = { headers: { "idempotency-key": "once" } };
const RETRIED = { headers: { "x-stainless-retry-count": "1" } };
const WAYS: readonly [string, How, How][] = [
  ["an idempotency key", KEYED, KEYED],
  ["a retry count", {}, RETRIED],
];

/** Bodies of the repeated request, by the reference which they continue from. */
const KINDS: readonly [string, (world: World) => Promise<object>][] = [
  ["a new session", async () => ({ input: "Go" })],
  [
    "a continuation",
    async (world) => {
      const { body } = await ask(world, { input: "Hi" });
      return { input: "Go", previous_response_id: body["id"] };
    },
  ],
  [
    "a session by its id",
    async (world) => {
      const { body } = await ask(world, { input: "Hi" });
      return { input: "Go", conversation: body["session_id"] };
    },
  ],
];

describe.each(WAYS)("Requests repeated with %s", (_, first, again) => {
  it.each(KINDS)(
    "A repeated request for %s runs once and gets the same response [OR-45] [SD-12]",
    async (_, of) => {
      const world = await worldOf([echoes()]);
      const body = await of(world);
      const one = await ask(world, body, first);
      const other = await ask(world, body, again);
      expect(other.body).toEqual(one.body);
      expect([one, other].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([
        null,
        "true",
      ]);
      expect(world.heard().filter((text) => text === "Go")).toHaveLength(1);
      const streamed = lastOf(await (await openStream(world, body, again)).rest());
      expect(streamed).toEqual(one.body);
    },
  );

  it.each(KINDS)(
    "A repeated request for %s follows the turn that is still running [OR-45]",
    async (_, of) => {
      const more = gate();
      const world = await worldOf([
        (signal, call) =>
          call.input.texts?.[0] === "Go"
            ? saysWhen("One ", more, "two")(signal, call)
            : says("Hello")(signal, call),
      ]);
      const body = await of(world);
      const before = world.provider.invocations.length;
      const one = ask(world, body, first);
      await called(world, before + 1);
      const other = await openStream(world, body, again);
      await other.until("response.output_text.delta");
      more.open();
      expect(lastOf(await other.rest())).toEqual((await one).body);
      expect(world.provider.invocations).toHaveLength(before + 1);
    },
  );

  it("Repeated tool results are submitted once [OR-45]", async () => {
    const world = await worldOf([wants({ id: "c1", name: "look" }), says("Seen")]);
    const begun = await ask(world, { input: "Look", tools: tools("look") });
    const call = outputOf(begun.body).find(({ type }) => type === "function_call");
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "ok" };
    const body = { input: [output], previous_response_id: begun.body["id"] };
    const one = await ask(world, body, first);
    const other = await ask(world, body, again);
    expect([one.status, textIn(one.body)]).toEqual([200, "Seen"]);
    expect(other.body).toEqual(one.body);
    expect(world.provider.invocations).toHaveLength(2);
  });

  it("A request repeated after a restart gets the stored response [OR-45] [OR-41]", async () => {
    const file = temporaryFile();
    const provider = providerOf([echoes()]);
    let store = await openSqliteStore({ file });
    const before = await worldOf([], { store, provider });
    const one = await ask(before, { input: "Go" }, first);
    await before.stop();
    await store.close();
    store = await openSqliteStore({ file });
    const after = await worldOf([], { store, provider });
    const other = await ask(after, { input: "Go" }, again);
    expect(other.body).toEqual(one.body);
    expect(provider.invocations).toHaveLength(1);
    await after.stop();
    await store.close();
  });

  it.each(KINDS)(
    "A repeated request for %s runs again if the provider refused the first attempt [OR-45] [OR-46] [OR-51]",
    async (_, of) => {
      let turnedAway = 0;
      const world = await worldOf([
        (signal, call) => {
          const isFirst = call.input.texts?.[0] === "Go" && (turnedAway += 1) < 3;
          return (isFirst ? refuses("throttled") : echoes())(signal, call);
        },
      ]);
      const body = await of(world);
      const statuses: unknown[] = [];
      for (const how of [first, again, again]) statuses.push((await ask(world, body, how)).status);
      expect(statuses).toEqual([429, 429, 200]);
      const again4 = await ask(world, body, again);
      expect([again4.status, textIn(again4.body)]).toEqual([200, "You said: Go"]);
      expect(turnedAway).toBe(3);
    },
  );

  it("A repeated request runs if the first attempt timed out in the queue [OR-43] [OR-45]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen(more, "One"), echoes()], { settings: { queueMs: 0 } });
    const stream = openStream(world, { input: "Hi", background: true });
    await called(world, 1);
    const { sessions: found } = await world.sessions.list({ limit: 1 });
    const body = { input: "Go", conversation: found[0]?.sessionId };
    const busy = await ask(world, body, first);
    expect([busy.status, errorIn(busy)["code"]]).toEqual([409, "session_busy"]);
    more.open();
    await (await stream).rest();
    const done = await ask(world, body, again);
    expect([done.status, textIn(done.body)]).toEqual([200, "You said: Go"]);
  });
});

describe("Reused idempotency keys", () => {
  it.each([
    ["input", { input: "Other" }],
    ["options", { input: "Go", temperature: 0.5 }],
  ])("A key is refused with different %s [OR-45]", async (_, other) => {
    const world = await worldOf([echoes()]);
    await ask(world, { input: "Go" }, KEYED);
    const answer = await ask(world, other, KEYED);
    expect([answer.status, errorIn(answer)["code"]]).toEqual([409, "idempotency_key_reused"]);
    expect(answer.headers.get("x-should-retry")).toBe("false");
    expect(world.heard()).toEqual(["Go"]);
  });

  it("A key is refused with a different prompt in the same session [OR-45]", async () => {
    const world = await worldOf([echoes()]);
    const { body } = await ask(world, { input: "Hi" });
    const conversation = body["session_id"];
    await ask(world, { input: "Go", conversation }, KEYED);
    await ask(world, { input: "Between", conversation });
    const answer = await ask(world, { input: "Other", conversation }, KEYED);
    expect([answer.status, errorIn(answer)["code"]]).toEqual([409, "idempotency_key_reused"]);
    const same = await ask(world, { input: "Go", conversation }, KEYED);
    expect(textIn(same.body)).toBe("You said: Go");
    expect(world.heard()).toEqual(["Hi", "Go", "Between"]);
  });

  it.each<[string, (sessions: readonly unknown[]) => readonly [object, object]]>([
    ["two sessions", ([one, two]) => [{ conversation: one }, { conversation: two }]],
    ["an existing and a new session", ([one]) => [{ conversation: one }, {}]],
    ["a new and an existing session", ([one]) => [{}, { conversation: one }]],
  ])("A key is refused for %s [OR-45]", async (_, carried) => {
    const world = await worldOf([echoes()]);
    const begun = [await ask(world, { input: "Hi" }), await ask(world, { input: "Hi" })];
    const [first, second] = carried(begun.map(({ body }) => body["session_id"]));
    expect((await ask(world, { input: "Go", ...first }, KEYED)).status).toBe(200);
    const answer = await ask(world, { input: "Go", ...second }, KEYED);
    expect([answer.status, errorIn(answer)["code"]]).toEqual([409, "idempotency_key_reused"]);
    expect(world.heard()).toEqual(["Hi", "Hi", "Go"]);
  });

  it("A key is refused for two sessions that headers identify [OR-45]", async () => {
    const world = await worldOf([echoes()]);
    const statuses: number[] = [];
    for (const _ of [1, 2]) {
      const { body } = await ask(world, { input: "Hi" });
      const headers = { ...KEYED.headers, "x-spanline-session": String(body["session_id"]) };
      statuses.push((await ask(world, { input: "Go" }, { headers })).status);
    }
    expect(statuses).toEqual([200, 409]);
  });

  it("A refused request does not use up its key [OR-45]", async () => {
    const world = await worldOf([echoes()]);
    const conversation = `ses_${"7".repeat(32)}`;
    const refused = await ask(world, { input: "Go", model: "nobody", conversation }, KEYED);
    expect(refused.status).toBe(404);
    expect((await ask(world, { input: "Go" }, KEYED)).status).toBe(200);
  });

  it("A key longer than 200 characters is refused [OR-71]", async () => {
    const world = await worldOf([echoes()]);
    const headers = { "idempotency-key": "x".repeat(201) };
    expect((await ask(world, { input: "Go" }, { headers })).status).toBe(400);
  });
});

describe("Turns of one session", () => {
  it("Turns of one session run in the order in which they were submitted [OR-43] [SD-13]", async () => {
    const more = gate();
    const world = await worldOf([says("Hello"), saysWhen(more, "One"), echoes()]);
    const { body } = await ask(world, { input: "Hi" });
    const conversation = body["session_id"];
    const requests: Promise<unknown>[] = [];
    for (let at = 0; at < 8; at += 1) {
      const seq = (await world.sessions.status(String(conversation))).lastPrompt?.seq;
      requests.push(ask(world, { input: `Number ${at}`, conversation }));
      await waitUntil(async () => {
        const { lastPrompt: last } = await world.sessions.status(String(conversation));
        return last?.seq !== seq;
      });
    }
    expect(world.provider.invocations).toHaveLength(2);
    more.open();
    await Promise.all(requests);
    expect(world.heard()).toEqual(["Hi", ...requests.map((_, at) => `Number ${at}`)]);
  });

  it("A queued turn is refused at its time limit, even while the turn before it is still sending text [OR-43] [OR-46]", async () => {
    const clock = createFakeClock();
    const gates = [gate(), gate(), gate()];
    const [one, two, three] = gates;
    if (one === undefined || two === undefined || three === undefined) throw new Error("No gates");
    const world = await worldOf([saysWhen("1", one, "2", two, "3", three, "4")], { clock });
    const first = await openStream(world, { input: "Hi" });
    const [created = {}] = await first.until("response.output_text.delta");
    const { session_id: conversation } = lastOf([created]);
    const { lastPrompt: before } = await world.sessions.status(String(conversation));
    const second = ask(world, { input: "Go", conversation });
    await waitUntil(async () => {
      const { lastPrompt: last } = await world.sessions.status(String(conversation));
      return last?.seq !== before?.seq;
    });
    let answered = false;
    void second.finally(() => (answered = true));
    await waitUntil(() => clock.pending > 3);
    clock.advance(20_000);
    one.open();
    await first.until("response.output_text.delta");
    clock.advance(10_000);
    // The clock does not advance further; text of the first turn must not extend the limit.
    await waitUntil(() => (clock.advance(0), answered));
    const busy = await second;
    expect([busy.status, errorIn(busy)["code"]]).toEqual([409, "session_busy"]);
    expect(busy.headers.get("retry-after")).toBe("2");
    expect(busy.headers.get("x-should-retry")).toBe("true");
    two.open();
    three.open();
    const rest = first.rest();
    let isThere = false;
    void rest.then(() => (isThere = true));
    await waitUntil(() => (clock.advance(20), isThere));
    expect(textIn(lastOf(await rest))).toBe("1234");
    expect(world.heard()).toEqual(["Hi"]);
  });

  it("A turn beyond the queue limit is refused with x-should-retry [OR-43]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen(more, "One"), echoes()]);
    const first = await ask(world, { input: "Hi", background: true });
    const conversation = first.body["session_id"];
    await called(world, 1);
    for (let at = 0; at < 100; at += 1)
      await ask(world, { input: `Number ${at}`, conversation, background: true });
    const busy = await ask(world, { input: "Too many", conversation, background: true });
    expect([busy.status, errorIn(busy)["code"]]).toEqual([409, "session_busy"]);
    expect(busy.headers.get("x-should-retry")).toBe("true");
    more.open();
  });
});

it("Two hundred concurrent streams do not mix [OR-44]", async () => {
  const world = await worldOf([echoes()]);
  const texts = Array.from({ length: 200 }, (_, at) => `I am number ${at}`);
  const all = await Promise.all(
    texts.map(async (input) => lastOf(await (await openStream(world, { input })).rest())),
  );
  expect(all.map(textIn)).toEqual(texts.map((text) => `You said: ${text}`));
  expect(new Set(all.map(({ session_id: id }) => id)).size).toBe(200);
});

describe("Rate limits of a key", () => {
  it("A request over the rate limit is refused before anything runs, with retry-after [OR-46] [OR-51]", async () => {
    const world = await worldOf([echoes()], { rates: { requestsPerMinute: 60, burst: 1 } });
    expect((await ask(world, { input: "Hi" })).status).toBe(200);
    const over = await ask(world, { input: "Go" });
    expect([over.status, errorIn(over)["code"]]).toEqual([429, "rate_limit_exceeded"]);
    expect(over.headers.get("x-should-retry")).toBe("true");
    expect(Number(over.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(world.heard()).toEqual(["Hi"]);
  });

  it("A background turn counts against the limit until it ends [OR-51]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen(more, "Done"), echoes()], { rates: { turns: 1 } });
    const { body } = await ask(world, { input: "Long", background: true });
    await called(world, 1);
    for (const how of [{ background: true }, {}])
      expect((await ask(world, { input: "Go", ...how })).status).toBe(429);
    more.open();
    await waitUntil(async () => (await ask(world, { input: "Go" })).status === 200);
    const conversation = body["session_id"];
    await ask(world, undefined, {
      path: `/conversations/${String(conversation)}`,
      method: "DELETE",
    });
    expect(world.reports).toEqual([]);
  });

  it("Only running turns count against the limit on turns", async () => {
    const more = gate();
    const world = await worldOf([saysWhen("One ", more, "two"), echoes()], { rates: { turns: 1 } });
    const stream = await openStream(world, { input: "Hi" });
    await stream.until("response.output_text.delta");
    expect((await ask(world, { input: "Go" })).status).toBe(429);
    more.open();
    await stream.rest();
    await waitUntil(async () => (await ask(world, { input: "Go" })).status === 200);
    expect((await ask(world, { nonsense: true })).status).toBe(400);
    expect((await ask(world, { input: "Go" })).status).toBe(200);
  });
});
