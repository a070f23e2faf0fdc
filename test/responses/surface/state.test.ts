import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryFile } from "../../store/sqlite-support.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { hangs, says } from "../../support/session/scripted-provider.ts";
import {
  ask,
  called,
  echoes,
  errorIn,
  gate,
  get,
  lastOf,
  openStream,
  providerOf,
  saysWhen,
  textIn,
  worldOf,
} from "./responses-world.ts";
import type { Fields } from "../support/recorded-stream.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const SESSION = "x-spanline-session";

describe("Chains of responses", () => {
  it.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])(
    "A chain continues at once (first response streamed: %s, second: %s) [OR-27] [OR-28] [OR-37]",
    async (isFirst, isSecond) => {
      const world = await worldOf([echoes()]);
      const turn = async (body: object, stream: boolean) =>
        stream
          ? lastOf(await (await openStream(world, body)).rest())
          : (await ask(world, body)).body;
      const first = await turn({ input: "One" }, isFirst);
      const second = await turn({ input: "Two", previous_response_id: first["id"] }, isSecond);
      expect(second).toMatchObject({ status: "completed", session_id: first["session_id"] });
      expect(world.heard()).toEqual(["One", "Two"]);
      expect(new Set(world.provider.invocations.map(({ sessionId }) => sessionId)).size).toBe(1);
    },
  );

  it("A chain continues from the id in the first event of a stream [OR-28]", async () => {
    const world = await worldOf([echoes()]);
    const stream = await openStream(world, { input: "One" });
    const created = lastOf(await stream.until("response.created"));
    const events = await stream.rest();
    expect(lastOf(events)["id"]).toBe(created["id"]);
    const next = await ask(world, { input: "Two", previous_response_id: created["id"] });
    expect(next.status).toBe(200);
  });

  it.each([
    ["never issued", "resp_nothing"],
    ["of an unknown session", `resp_ses_${"0".repeat(32)}_3`],
    ["of an event that starts no response", null],
  ])(
    "An id %s is refused as previous response before the request reaches the agent [OR-29]",
    async (_, id) => {
      const world = await worldOf([echoes()]);
      const first = await ask(world, { input: "One" });
      const other = String(first.body["id"]).replace(/_\d+$/, "_1");
      const answer = await ask(world, { input: "Two", previous_response_id: id ?? other });
      expect([answer.status, errorIn(answer)]).toMatchObject([
        404,
        { code: "previous_response_not_found", param: "previous_response_id", type: "not_found" },
      ]);
      expect(world.heard()).toEqual(["One"]);
    },
  );

  it("previous_response_id and conversation together are refused [OR-30]", async () => {
    const world = await worldOf([echoes()]);
    const { body } = await ask(world, { input: "One" });
    const { id: previous_response_id, session_id: conversation } = body;
    const answer = await ask(world, { input: "Two", previous_response_id, conversation });
    expect([answer.status, errorIn(answer)["param"]]).toEqual([400, "previous_response_id"]);
    expect(world.heard()).toEqual(["One"]);
  });

  it("A chain cannot continue from a response other than its last, and nothing is appended [OR-31]", async () => {
    const world = await worldOf([echoes()]);
    const first = await ask(world, { input: "One" });
    const previous_response_id = first.body["id"];
    await ask(world, { input: "Two", previous_response_id });
    const fork = await ask(world, { input: "Another two", previous_response_id });
    expect([fork.status, errorIn(fork)]).toMatchObject([
      400,
      { code: "previous_response_not_latest", param: "previous_response_id" },
    ]);
    expect(fork.headers.get("x-should-retry")).toBe("false");
    expect(world.heard()).toEqual(["One", "Two"]);
  });

  it("Only one of two concurrent requests can continue the same response [OR-31] [OR-43]", async () => {
    const world = await worldOf([echoes()]);
    const { body } = await ask(world, { input: "One" });
    const previous_response_id = body["id"];
    const both = await Promise.all(
      ["A", "B"].map((input) => ask(world, { input, previous_response_id })),
    );
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 400]));
    expect(world.heard()).toHaveLength(2);
  });

  it.each([
    ["too short", "ses_short"],
    ["too long", "a".repeat(257)],
    ["with a space", `ses ${"0".repeat(32)}`],
    ["with a slash", `ses/${"0".repeat(32)}`],
    ["that is a number", 7],
    ["that is a list", []],
    ["that is an object without a valid id", { __proto__: null, id: "x" }],
  ])("A session is not created under an id %s [OR-35] [SD-7]", async (_, id) => {
    const world = await worldOf([echoes()]);
    const answer = await ask(world, { input: "One", session_id: id });
    expect([answer.status, errorIn(answer)]).toMatchObject([
      400,
      { code: "invalid_session_id", param: "session_id" },
    ]);
    expect(errorIn(answer)["message"]).toMatch(/x-spanline-session.*adoptSessions/);
    expect(world.heard()).toEqual([]);
  });

  it("A session known only to the agent is adopted under its id if the configuration allows it [OR-35]", async () => {
    const conversation = `ses_${"7".repeat(32)}`;
    const adopting = await worldOf([echoes()]);
    const adopted = await ask(adopting, { input: "One", conversation });
    expect(adopted.body["session_id"]).toBe(conversation);
    expect(adopting.provider.invocations).toMatchObject([{ sessionId: conversation }]);
    const strict = await worldOf([echoes()], { settings: { adoptSessions: false } });
    const refused = await ask(strict, { input: "One", conversation });
    const error = { code: "session_not_found", param: "conversation" };
    expect([refused.status, errorIn(refused)]).toMatchObject([404, error]);
    expect(errorIn(refused)["message"]).toMatch(/x-spanline-session.*adoptSessions/);
    const metadata = { session_id: conversation };
    const chat = { messages: [{ role: "user", content: "One" }], metadata };
    const also = await ask(strict, chat, { path: "/chat/completions" });
    expect(errorIn(also)).toMatchObject({ ...error, param: "metadata.session_id" });
  });
});

describe("Keys and agents", () => {
  const keys = [
    { name: "ann", key: "sk-of-ann-0123456789" },
    { name: "bob", key: "sk-of-bob-0123456789" },
  ];
  const [ann, bob] = [{ key: "sk-of-ann-0123456789" }, { key: "sk-of-bob-0123456789" }];

  it("Two keys share no session, no response, no item and no idempotency key [OR-36]", async () => {
    const world = await worldOf([echoes()], { keys });
    const mine = await ask(world, { input: "My secret" }, ann);
    const { id, session_id: session, output } = mine.body;
    const [item] = Array.isArray(output) ? output : [];
    const attempts = await Promise.all([
      ask(world, { input: "Two", previous_response_id: id }, bob),
      ask(world, { input: "Two", conversation: session }, bob),
      ask(world, { input: "Two", session_id: session }, bob),
      ask(world, { input: "Two" }, { ...bob, headers: { [SESSION]: String(session) } }),
      get(world, `/responses/${String(id)}`, bob),
      get(world, `/responses/${String(id)}?stream=true`, bob),
      get(world, `/responses/${String(id)}/input_items`, bob),
      ask(world, undefined, { ...bob, path: `/responses/${String(id)}`, method: "DELETE" }),
      ask(world, {}, { ...bob, path: `/responses/${String(id)}/cancel` }),
      ask(world, { input: [{ type: "item_reference", id: item?.id }] }, bob),
    ]);
    expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => 404));
    expect(JSON.stringify(attempts.map(({ body }) => body))).not.toContain("My secret");
    expect(world.heard()).toEqual(["My secret"]);
    const echoed = await ask(world, { input: [item, { role: "user", content: "Go on" }] }, bob);
    expect(echoed.body["session_id"]).not.toBe(session);
    const headers = { "idempotency-key": "the-same" };
    const [one, other] = [
      await ask(world, { input: "K" }, { ...ann, headers }),
      await ask(world, { input: "K" }, { ...bob, headers }),
    ];
    expect([one, other].map(({ status, body }) => [status, textIn(body)])).toEqual([
      [200, "You said: K"],
      [200, "You said: K"],
    ]);
    expect(other.headers.get("idempotent-replayed")).toBeNull();
    expect(one.body["session_id"]).not.toBe(other.body["session_id"]);
    expect(world.heard().filter((text) => text === "K")).toHaveLength(2);
  });

  it("For a key restricted to one agent, other agents do not exist [OR-36]", async () => {
    const some = [{ name: "ann", key: ann.key, agents: ["other"] }];
    const world = await worldOf([echoes()], { keys: some });
    const answer = await ask(world, { model: "scripted", input: "One" }, ann);
    expect([answer.status, errorIn(answer)["code"]]).toEqual([404, "model_not_found"]);
    expect((await get(world, "/models", ann)).body).toEqual({ object: "list", data: [] });
    for (const path of ["/responses", "/responses/compact"]) {
      const unknown = await ask(world, { model: "nobody", input: "One" }, { ...ann, path });
      expect([unknown.status, errorIn(unknown)["code"]]).toEqual([404, "model_not_found"]);
      expect(JSON.stringify(unknown.body)).not.toContain("scripted");
    }
    const packed = await ask(
      world,
      { model: "scripted", input: "One" },
      { ...ann, path: "/responses/compact" },
    );
    expect(packed.status).toBe(404);
  });

  it("A session of one agent cannot be used with another agent [OR-36]", async () => {
    const world = await worldOf([echoes()], { others: ["second"] });
    const { body } = await ask(world, { model: "scripted", input: "One" });
    for (const carrier of [
      { previous_response_id: body["id"] },
      { conversation: body["session_id"] },
    ]) {
      const answer = await ask(world, { model: "second", input: "Two", ...carrier });
      expect([answer.status, errorIn(answer)]).toMatchObject([
        400,
        { code: "agent_mismatch", param: "model" },
      ]);
    }
    expect(world.heard()).toEqual(["One"]);
  });

  it("A key without the right to prompt can neither compact nor list models [OR-36]", async () => {
    const world = await worldOf([echoes()], { keys: [{ name: "ann", key: ann.key, rights: [] }] });
    const answers = [
      await ask(world, { input: "Hi" }, { ...ann, path: "/responses/compact" }),
      await get(world, "/models", ann),
      await get(world, "/models/scripted", ann),
    ];
    expect(answers.map((answer) => [answer.status, errorIn(answer)["code"]])).toEqual(
      answers.map(() => [403, "access_denied"]),
    );
  });

  it("A key learns only about the agents which it may use [OR-36]", async () => {
    const some = [{ name: "ann", key: ann.key, agents: ["other"] }];
    const world = await worldOf([echoes()], { keys: some });
    const messages = [{ role: "user", content: "Hi" }];
    for (const model of ["nobody", "scripted"]) {
      for (const [path, body] of [
        ["/responses", { input: "Hi" }],
        ["/responses/compact", { input: "Hi" }],
        ["/conversations", {}],
        ["/chat/completions", { messages }],
        ["/inference", { messages }],
      ] as const) {
        const answer = await ask(world, { model, ...body }, { path });
        expect([path, answer.status, errorIn(answer)["code"]]).toEqual([
          path,
          404,
          "model_not_found",
        ]);
        const message = String(errorIn(answer)["message"]).replaceAll(`"${model}"`, "");
        expect(message).not.toContain("scripted");
      }
    }
  });
});

describe("The input of a response", () => {
  it("input_items has one item for each message of the request [OR-61]", async () => {
    const world = await worldOf([echoes()]);
    const image_url =
      "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const input = [
      { role: "user", content: "One" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "Two" },
          { type: "input_image", image_url },
        ],
      },
      { role: "user", content: [{ type: "input_text", text: "Three" }] },
    ];
    const described = await worldOf([echoes()], { agent: { images: "describe" } });
    const { body } = await ask(described, { input });
    const listed = await get(described, `/responses/${String(body["id"])}/input_items?order=asc`);
    const { data } = listed.body as { data: { id: string; content: { text: string }[] }[] };
    expect(data.map(({ content }) => content.map(({ text }) => text))).toEqual([
      ["One"],
      ["Two", expect.stringContaining("image/png")],
      ["Three"],
    ]);
    expect(new Set(data.map(({ id }) => id)).size).toBe(3);
    const alone = await ask(world, { input: "Hi" });
    const one = await get(world, `/responses/${String(alone.body["id"])}/input_items`);
    expect(one.body["data"]).toMatchObject([{ role: "user", content: [{ text: "Hi" }] }]);
  });

  it("input_items lists every message of a request with a history, one item each, in order [OR-61]", async () => {
    const world = await worldOf([echoes()]);
    const pair = (id: string) => [
      { type: "function_call", call_id: id, name: "look", arguments: "{}" },
      { type: "function_call_output", call_id: id, output: `saw ${id}` },
    ];
    const parts = (...texts: string[]) => texts.map((text) => ({ type: "input_text", text }));
    const list = async (input: unknown, extra: object = {}) => {
      const { body, status } = await ask(world, { input, ...extra });
      expect(status, JSON.stringify(body)).toBe(200);
      const path = `/responses/${String(body["id"])}/input_items?order=asc&limit=100`;
      const { data } = (await get(world, path)).body as { data: Fields[] };
      expect(new Set(data.map(({ id }) => id)).size).toBe(data.length);
      return { id: body["id"], items: data.map(formatItem) };
    };
    const formatItem = ({ type, role, content, call_id, output }: Fields): string => {
      if (type !== "message") return [type, call_id, output].filter(Boolean).join(" ");
      return `${String(role)}: ${(content as { text: string }[]).map(({ text }) => text).join("|")}`;
    };
    const { id, items } = await list([
      { role: "user", content: "one" },
      { role: "assistant", content: "uno" },
      { role: "user", content: "two" },
    ]);
    expect(items).toEqual(["user: one", "assistant: uno", "user: two"]);
    expect((await list("three", { previous_response_id: id })).items).toEqual(["user: three"]);
    const long = await list([
      { role: "system", content: "Be brief" },
      { role: "user", content: "a" },
      { role: "user", content: parts("b", "c", " ") },
      { role: "assistant", content: "d" },
      ...pair("c1"),
      { role: "developer", content: "Be kind" },
      { role: "user", content: "e" },
      ...pair("c2"),
      { role: "user", content: parts("f") },
      { role: "user", content: "g" },
    ]);
    expect(long.items).toEqual([
      "system: Be brief",
      "user: a",
      "user: b|c",
      "assistant: d",
      "function_call c1",
      "function_call_output c1 saw c1",
      "developer: Be kind",
      "user: e",
      "function_call c2",
      "function_call_output c2 saw c2",
      "user: f",
      "user: g",
    ]);
    const greeting = [
      { role: "assistant", content: "Hello" },
      { role: "user", content: "Hi" },
    ];
    expect((await list(greeting)).items).toEqual(["assistant: Hello", "user: Hi"]);
    const instructed = [
      { role: "system", content: "Be brief" },
      { role: "user", content: "x" },
    ];
    expect((await list(instructed)).items).toEqual(["system: Be brief", "user: x"]);
    const created = await ask(world, { items: greeting.slice(0, 1) }, { path: "/conversations" });
    expect((await list("y", { conversation: created.body["id"] })).items).toEqual(["user: y"]);
  });

  it("Counting input tokens in advance is refused with not_supported", async () => {
    const world = await worldOf([echoes()]);
    const answer = await ask(world, { input: "Hi" }, { path: "/responses/input_tokens" });
    expect([answer.status, answer.headers.get("x-should-retry"), errorIn(answer)]).toMatchObject([
      400,
      "false",
      { code: "not_supported", type: "invalid_request_error" },
    ]);
    expect(world.heard()).toEqual([]);
  });
});

describe("Conversations from elsewhere", () => {
  const input = [
    { role: "user", content: "I am Alice" },
    { role: "assistant", content: "Hello Alice" },
    { role: "user", content: "Who am I?" },
  ];

  it("The history of a new session is replayed to its agent, and a header says so [OR-38] [SD-5]", async () => {
    const world = await worldOf([echoes()]);
    const answer = await ask(world, { input });
    expect(answer.headers.get("x-spanline-history")).toBe("replayed");
    expect(world.heard()).toEqual(["Who am I?"]);
    expect(world.provider.invocations[0]?.history).toMatchObject([
      { role: "user" },
      { role: "assistant" },
    ]);
  });

  it("A foreign history is refused with foreignHistory: reject [OR-38]", async () => {
    const world = await worldOf([echoes()], { settings: { foreignHistory: "reject" } });
    const answer = await ask(world, { input });
    expect([answer.status, errorIn(answer)]).toMatchObject([
      400,
      { code: "unknown_history", param: "input" },
    ]);
    expect(world.heard()).toEqual([]);
    expect((await world.sessions.list({ limit: 1 })).sessions).toEqual([]);
  });

  it("A foreign history is omitted with foreignHistory: ignore, and a header says so [OR-38]", async () => {
    const world = await worldOf([echoes()], { settings: { foreignHistory: "ignore" } });
    const answer = await ask(world, { input });
    expect(answer.headers.get("x-spanline-history")).toBe("ignored");
    expect(world.provider.invocations).toMatchObject([{ history: [] }]);
  });

  it("A history that the session already has is not replayed [OR-37]", async () => {
    const world = await worldOf([echoes()]);
    const first = await ask(world, { input: "One" });
    const { output, session_id: session } = first.body;
    const items = Array.isArray(output) ? output : [];
    const whole = [{ role: "user", content: "One" }, ...items, { role: "user", content: "Two" }];
    const second = await ask(world, { input: whole });
    expect(second.body["session_id"]).toBe(session);
    expect(second.headers.get("x-spanline-history")).toBeNull();
    expect(world.heard()).toEqual(["One", "Two"]);
  });
});

describe("Responses that are not stored", () => {
  it("A response with store false is not found and cannot be continued [OR-39]", async () => {
    const world = await worldOf([echoes()]);
    const { body } = await ask(world, { input: "One", store: false });
    const id = String(body["id"]);
    const found = await get(world, `/responses/${id}`);
    expect([found.status, errorIn(found)["code"]]).toEqual([404, "response_not_found"]);
    const next = await ask(world, { input: "Two", previous_response_id: id });
    expect([next.status, errorIn(next)["code"]]).toEqual([404, "previous_response_not_found"]);
  });

  it("A deleted response is indistinguishable from one that never existed [OR-42]", async () => {
    const world = await worldOf([echoes()]);
    const { body } = await ask(world, { input: "One" });
    const id = String(body["id"]);
    const path = `/responses/${id}`;
    const gone = await ask(world, undefined, { path, method: "DELETE" });
    expect(gone.body).toEqual({ id, object: "response", deleted: true });
    const again = await ask(world, undefined, { path, method: "DELETE" });
    expect(again.status).toBe(404);
    expect((await get(world, path)).status).toBe(404);
    expect((await get(world, `${path}/input_items`)).status).toBe(404);
    const next = await ask(world, { input: "Two", previous_response_id: id });
    expect([next.status, errorIn(next)["code"]]).toEqual([404, "previous_response_not_found"]);
    expect(world.heard()).toEqual(["One"]);
  });
});

it("Deleting a response that another principal submitted in the same session is refused [OR-42]", async () => {
  const world = await worldOf([echoes()]);
  const { body } = await ask(world, { input: "One" });
  const sessionId = String(body["session_id"]);
  const content = [{ type: "text", text: "Two" }] as const;
  const principal = { id: "another", rights: ["prompt", "control"] } as const;
  const reply = await world.sessions.command(sessionId, { type: "prompt", content }, { principal });
  const path = `/responses/resp_${sessionId}_${reply.status === "accepted" ? reply.seq : 0}`;
  expect((await get(world, path)).status).toBe(200);
  const gone = await ask(world, undefined, { path, method: "DELETE" });
  expect([gone.status, errorIn(gone)["code"]]).toEqual([403, "access_denied"]);
  expect((await get(world, path)).status).toBe(200);
});

describe("Expired upstream sessions", () => {
  const HOUR = 3_600_000;

  it.each([
    ["idle", { idleSeconds: 900 }, 900_000],
    ["lifetime", { lifetimeSeconds: 3600 }, HOUR],
  ])(
    "After its %s limit an upstream session is replaced, and the log is replayed into the new one [OR-40]",
    async (_, upstream, limitMs) => {
      const clock = createFakeClock();
      const provider = providerOf([echoes()]);
      const world = await worldOf([], { clock, provider, agent: { upstream } });
      const turn = async (body: object) => {
        const responsePromise = ask(world, body);
        let isThere = false;
        void responsePromise.finally(() => (isThere = true));
        await waitUntil(() => (clock.advance(20), isThere));
        return (await responsePromise).body;
      };
      const first = await turn({ input: "One" });
      // One minute before the limit the upstream session still exists.
      clock.advance(limitMs - 60_000);
      const second = await turn({ input: "Two", previous_response_id: first["id"] });
      clock.advance(limitMs);
      const third = await turn({ input: "Three", previous_response_id: second["id"] });
      for (const { status, session_id: session } of [second, third]) {
        expect([status, session]).toEqual(["completed", first["session_id"]]);
      }
      const calls = provider.invocations.map(({ sessionId, input, history }) => ({
        isFirst: sessionId === first["session_id"],
        texts: input.texts,
        history: history.map(({ role, blocks }) => [role, ...blocks.map(textOfBlock)]),
      }));
      expect(calls).toEqual([
        { isFirst: true, texts: ["One"], history: [] },
        { isFirst: true, texts: ["Two"], history: [] },
        {
          isFirst: false,
          texts: ["Three"],
          history: [
            ["user", "One"],
            ["assistant", "You said: One"],
            ["user", "Two"],
            ["assistant", "You said: Two"],
          ],
        },
      ]);
    },
  );
});

function textOfBlock(block: object): string {
  return "text" in block ? String(block.text) : JSON.stringify(block);
}

describe("Restarts", () => {
  const reopened = async (file: string): Promise<Store> => openSqliteStore({ file });

  it("After a restart every chain can be continued [OR-41]", async () => {
    const file = temporaryFile();
    const provider = providerOf([echoes()]);
    let store = await reopened(file);
    const before = await worldOf([], { store, provider });
    const first = await ask(before, { input: "One" });
    await before.stop();
    await store.close();
    store = await reopened(file);
    const after = await worldOf([], { store, provider });
    const path = `/responses/${String(first.body["id"])}`;
    expect((await get(after, path)).body).toEqual(first.body);
    const second = await ask(after, { input: "Two", previous_response_id: first.body["id"] });
    expect(second.body).toMatchObject({
      status: "completed",
      session_id: first.body["session_id"],
    });
    expect(after.heard()).toEqual(["One", "Two"]);
    await after.stop();
    await store.close();
  });

  it("A turn interrupted by a restart resumes in the next process, and its response can be followed [OR-41]", async () => {
    const file = temporaryFile();
    const more = gate();
    const provider = providerOf([hangs("Half"), saysWhen(more, "The whole")]);
    let store = await reopened(file);
    const agent = { onLost: "reseed" } as const;
    const before = await worldOf([], { store, provider, agent });
    const begun = await ask(before, { input: "One", background: true });
    await called(before, 1);
    await before.stop();
    await store.close();
    store = await reopened(file);
    const after = await worldOf([], { store, provider, agent });
    const path = `/responses/${String(begun.body["id"])}`;
    await after.sessions.resumeInterrupted();
    await called(after, 2);
    expect((await get(after, path)).body).toMatchObject({ status: "in_progress" });
    const stream = await openStream(after, undefined, { path: `${path}?stream=true` });
    more.open();
    const end = lastOf(await stream.rest());
    expect([end["status"], textIn(end)]).toEqual([
      "completed",
      expect.stringMatching(/The whole$/),
    ]);
    expect((await get(after, path)).body).toEqual(end);
    await after.stop();
    await store.close();
  });
});

describe("Background responses and new input", () => {
  it("A background response is returned at once, can be polled, and can be streamed from any event [OR-48]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen("One ", more, "two")]);
    const begun = await ask(world, { input: "Hi", background: true });
    expect(begun.body).toMatchObject({ background: true, completed_at: null });
    expect(["queued", "in_progress"]).toContain(begun.body["status"]);
    const path = `/responses/${String(begun.body["id"])}`;
    const first = await openStream(world, undefined, { path: `${path}?stream=true` });
    const seen = await first.until("response.output_text.delta");
    expect(seen[0]).toMatchObject({ type: "response.created" });
    first.leave();
    const { sequence_number: last } = seen.at(-1) ?? {};
    more.open();
    await waitUntil(async () => (await get(world, path)).body["status"] === "completed");
    const after = `${path}?stream=true&starting_after=${String(last)}`;
    const rest = await (await openStream(world, undefined, { path: after })).rest();
    const all = await (await openStream(world, undefined, { path: `${path}?stream=true` })).rest();
    expect([...seen, ...rest]).toEqual(all);
    const wrong = await get(world, `${path}?stream=true&starting_after=x`);
    expect([wrong.status, errorIn(wrong)["param"]]).toEqual([400, "starting_after"]);
  });

  it("A streamed background response continues after its reader disconnects [OR-48]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen("One ", more, "two")]);
    const stream = await openStream(world, { input: "Hi", background: true });
    const [created = {}] = await stream.until("response.output_text.delta");
    stream.leave();
    await waitUntil(() => world.lines.length > 0);
    more.open();
    const path = `/responses/${String(lastOf([created])["id"])}`;
    await waitUntil(async () => (await get(world, path)).body["status"] !== "in_progress");
    expect((await get(world, path)).body).toMatchObject({ status: "completed" });
  });

  it("A background response can be cancelled, also while it is queued, without effect on others [OR-49] [OR-50]", async () => {
    const more = gate();
    const world = await worldOf([saysWhen("One ", more, "two"), saysWhen("Other")]);
    const first = await ask(world, { input: "Hi", background: true });
    const conversation = first.body["session_id"];
    await called(world, 1);
    const second = await ask(world, { input: "And?", background: true, conversation });
    expect(second.body["status"]).toBe("queued");
    const cancel = (id: unknown) => ask(world, {}, { path: `/responses/${String(id)}/cancel` });
    const cancelled = await cancel(second.body["id"]);
    expect(cancelled.body).toMatchObject({ status: "cancelled", error: null });
    more.open();
    const path = `/responses/${String(first.body["id"])}`;
    await waitUntil(async () => (await get(world, path)).body["status"] === "completed");
    const done = await cancel(first.body["id"]);
    expect(done.body).toEqual((await get(world, path)).body);
    expect((await cancel(second.body["id"])).body).toEqual(cancelled.body);
    expect(world.heard()).toEqual(["Hi"]);
    const foreground = await ask(world, { input: "Now" });
    const refused = await cancel(foreground.body["id"]);
    expect([refused.status, errorIn(refused)["code"]]).toEqual([400, "not_background"]);
  });
});

it("A request without a new user message is refused and does not reach the agent [SD-1] [SD-2] [SD-9]", async () => {
  const world = await worldOf([says("Hello")]);
  const codes = await Promise.all(
    [
      { input: [] },
      { input: [{ role: "assistant", content: "Hello" }] },
      {
        input: [
          { role: "user", content: "One" },
          { role: "assistant", content: "Hello" },
        ],
      },
      { input: "  " },
      {},
    ].map(async (body) => {
      const answer = await ask(world, body);
      return [answer.status, errorIn(answer)["code"], errorIn(answer)["param"]];
    }),
  );
  expect(codes).toEqual([
    [400, "missing_user_message", "input"],
    [400, "missing_user_message", "input"],
    [400, "no_new_message", "input"],
    [400, "empty_message", "input"],
    [400, "missing_user_message", "input"],
  ]);
  expect(world.heard()).toEqual([]);
});

it("All user messages since the last assistant message are sent in order [SD-3]", async () => {
  const world = await worldOf([echoes()]);
  const input = [
    { role: "user", content: "One" },
    {
      role: "user",
      content: [
        { type: "input_text", text: "Two" },
        { type: "input_text", text: "three" },
      ],
    },
  ];
  await ask(world, { input });
  expect(world.heard()).toEqual(["One\nTwo\nthree"]);
});
