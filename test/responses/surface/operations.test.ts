import { describe, expect, it } from "vitest";
import { says, wants } from "../../support/session/scripted-provider.ts";
import {
  ask,
  echoes,
  errorIn,
  get,
  outputOf,
  tools,
  worldOf,
  type World,
} from "./responses-world.ts";

const unversioned = (world: World): World => ({
  ...world,
  baseUrl: world.baseUrl.replace(/\/v1$/, ""),
});

describe("All routes", () => {
  it("Every route is served with and without /v1 [OR-69]", async () => {
    const world = await worldOf([echoes()]);
    const bare = unversioned(world);
    const { body } = await ask(bare, { input: "Hi" });
    const path = `/responses/${String(body["id"])}`;
    for (const target of [world, bare]) {
      expect((await get(target, path)).body).toEqual(body);
      expect((await get(target, "/models")).body).toEqual({
        object: "list",
        data: [{ id: "scripted", object: "model", created: 0, owned_by: "spanline" }],
      });
      expect((await get(target, "/models/scripted")).status).toBe(200);
      expect(errorIn(await get(target, "/models/nobody"))["code"]).toBe("model_not_found");
      expect((await get(target, `${path}/input_items`)).body).toMatchObject({ object: "list" });
    }
  });

  it.each<[string, Parameters<typeof ask>, number, string]>([
    ["an unknown path", call("/nothing", {}), 404, "unknown_url"],
    ["a wrong method", call("/responses", undefined, "DELETE"), 405, "method_not_allowed"],
    [
      "a wrong content type",
      call("/responses", {}, "POST", { "content-type": "text/plain" }),
      415,
      "unsupported_media_type",
    ],
    ["invalid JSON", call("/responses", "{"), 400, "invalid_json"],
    ["a list as body", call("/responses", "[]"), 400, "invalid_json"],
    ["bytes that are not text", call("/responses", '{"input":"\ud800"}'), 200, ""],
    ["an unknown agent", call("/responses", { input: "Hi", model: "x" }), 404, "model_not_found"],
    ["an unknown response", call("/responses/resp_x", undefined, "GET"), 404, "response_not_found"],
    [
      "a body that is too long",
      call("/responses", { input: "x".repeat(100_001) }),
      413,
      "request_too_large",
    ],
  ])(
    "The error for %s has the form that OpenAI clients parse [OR-70] [OR-71]",
    async (_, [, body, how], status, code) => {
      const world = await worldOf([echoes()], { bodyBytes: 100_000 });
      const answer = await ask(world, body, how);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("x-request-id")).toMatch(/^req_/);
      if (status === 200) return;
      expect(answer.body).toEqual({
        error: {
          message: expect.any(String),
          type: expect.any(String),
          param: errorIn(answer)["param"],
          code,
        },
      });
      expect(world.heard()).toEqual([]);
    },
  );

  it("A body that is not UTF-8 is refused [OR-71]", async () => {
    const world = await worldOf([echoes()]);
    const answer = await fetch(`${world.baseUrl}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: "invalid_json" } },
    ]);
  });
});

function call(
  path: string,
  body: unknown,
  method = "POST",
  headers: { readonly [name: string]: string } = {},
): Parameters<typeof ask> {
  return [{ baseUrl: "", apiKey: "", model: "" }, body, { path, method, headers }];
}

it("The access log contains no message text, no session ids and no keys [OR-72]", async () => {
  const key = "sk-secret-0123456789abc";
  const world = await worldOf([echoes()], { keys: [{ name: "ann", key }] });
  const { body } = await ask(world, { input: "My diary", instructions: "Be discreet" });
  const id = String(body["id"]);
  await get(world, `/responses/${id}?stream=true&starting_after=999`, {}).catch(() => {});
  await get(world, `/responses/${id}/input_items?after=${String(outputOf(body)[0]?.["id"])}`);
  await ask(world, { input: "More", previous_response_id: id });
  await ask(world, { input: "x", session_id: "not a session" });
  const text = world.lines.join("");
  expect(world.lines).toHaveLength(5);
  for (const secret of [
    "diary",
    "discreet",
    String(body["session_id"]),
    id,
    key,
    "not a session",
  ]) {
    expect(text).not.toContain(secret);
  }
  expect(text).toContain('"principal":"ann"');
  expect(text).toContain('"route":"/v1/responses/:id/input_items"');
});

it("Error messages contain no implementation details of the server [OR-70]", async () => {
  const world = await worldOf([], { settings: { approvalMs: 1 } });
  const answer = await ask(world, { input: "Hi" });
  expect(answer.status).toBe(502);
  expect(JSON.stringify(answer.body)).not.toMatch(/scripted-provider|at .*\.ts/);
});

describe("Input items", () => {
  it("Input items are listed in pages, in ascending or descending order [OR-6]", async () => {
    const two = wants({ id: "c1", name: "look" }, { id: "c2", name: "look" });
    const world = await worldOf([two, says("Seen")]);
    const begun = await ask(world, { input: "Look", tools: tools("look") });
    const calls = outputOf(begun.body).filter(({ type }) => type === "function_call");
    const results = calls.map(({ call_id }) => ({
      type: "function_call_output",
      call_id,
      output: "ok",
    }));
    const input = [...results, { role: "user", content: "Well?" }];
    const { body } = await ask(world, { input, previous_response_id: begun.body["id"] });
    const path = `/responses/${String(body["id"])}/input_items`;
    const listed = async (query: string) => {
      const { data, has_more } = (await get(world, `${path}?${query}`)).body;
      return { ids: Array.isArray(data) ? data.map(({ id }) => id) : [], has_more };
    };
    const { ids } = await listed("order=asc");
    expect(new Set(ids).size).toBe(3);
    expect(await listed("")).toEqual({ ids: ids.toReversed(), has_more: false });
    expect(await listed("order=asc&limit=2")).toEqual({ ids: ids.slice(0, 2), has_more: true });
    expect(await listed(`order=asc&after=${ids[1]}`)).toEqual({
      ids: ids.slice(2),
      has_more: false,
    });
    const wrong = await get(world, `${path}?limit=0`);
    expect([wrong.status, errorIn(wrong)["param"]]).toEqual([400, "limit"]);
    const order = await get(world, `${path}?order=up`);
    expect([order.status, errorIn(order)["param"]]).toEqual([400, "order"]);
  });
});
