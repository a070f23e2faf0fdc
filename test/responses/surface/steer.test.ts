import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import { createGate, type Gate } from "../../support/gate.ts";
import {
  says,
  wants,
  type ProviderScript,
  type ScriptedToolCall,
} from "../../support/session/scripted-provider.ts";
import type { Fields } from "../support/recorded-stream.ts";
import {
  ask,
  called,
  echoes,
  gate as createEventGate,
  lastOf,
  outputOf,
  providerOf,
  saysWhen,
  textIn,
  tools,
  worldOf,
  type World,
  type WorldOptions,
} from "./responses-world.ts";
import { talkWith, type Talk } from "./talk.ts";

interface Steered {
  readonly world: World;
  readonly talk: Talk;
  readonly responseId: string;
  /** Lets the tool of the running response finish. */
  readonly gate: Gate;
}

type StartOptions = WorldOptions & {
  readonly answers?: readonly ProviderScript[];
  /** Further calls of the first step. */
  readonly calls?: readonly ScriptedToolCall[];
};

/** A response whose first step calls a tool; the tool runs until the gate opens. */
async function startResponse(
  body: object = {},
  { answers = [echoes()], calls = [], ...options }: StartOptions = {},
): Promise<Steered> {
  const gate = createGate();
  const look = defineTool({
    name: "look",
    description: "Looks",
    input: { type: "object" },
    async run() {
      await gate.pass();
      return "seen";
    },
  });
  const scripts = [wants({ id: "c1", name: "look" }, ...calls), ...answers];
  const world = await worldOf(scripts, { agent: { tools: [look] }, ...options });
  const talk = await talkWith(world, "/responses", options.keys?.[0]?.key ?? world.apiKey);
  talk.send({ type: "response.create", input: "Go", ...body });
  const { response } = await readUntil(talk, "response.created");
  await gate.entry;
  return { world, talk, responseId: idOf(response), gate };
}

async function readUntil(talk: Talk, type: string | RegExp): Promise<Fields> {
  for (;;) {
    const frame = await talk.next();
    const seen = String(frame["type"]);
    if (typeof type === "string" ? seen === type : type.test(seen)) return frame;
  }
}

/** Sends a steer frame and returns its outcome. */
function steer(talk: Talk, fields: object): Promise<Fields> {
  talk.send({ type: "response.steer", ...fields });
  return readUntil(talk, /^response\.steer\./);
}

function idOf(response: unknown): string {
  return isObject(response) ? String(response["id"]) : "";
}

const failed = (code: string) => ({ type: "response.steer.failed", error: { code } });

describe("response.steer", () => {
  it("A steered message reaches the model and changes the output of the same response [OR-76] [ACP-118]", async () => {
    const { world, talk, responseId, gate } = await startResponse();
    const accepted = await steer(talk, {
      previous_response_id: responseId,
      input: "Use metric units",
    });
    expect(accepted).toEqual({
      type: "response.steer.accepted",
      sequence_number: expect.any(Number),
      steer: { id: expect.stringMatching(/^msg_inj_/), previous_response_id: responseId },
      delivered_as: "steer",
    });
    gate.open();
    const response = lastOf(await talk.end());
    expect(response).toMatchObject({ id: responseId, status: "completed" });
    expect(textIn(response)).toContain("You said: Use metric units");
    const next = { input: "Next", previous_response_id: responseId };
    expect(textIn(lastOf(await talk.turn(next)))).toBe("You said: Next");
    expect(world.heard()).toEqual(["Go", "Use metric units", "Next"]);
  });

  it("A message that arrives during the last text extends the response, and the next request waits [OR-76] [ACP-118]", async () => {
    const more = createEventGate();
    const world = await worldOf([saysWhen("One. ", more, "Two. "), echoes()]);
    const talk = await talkWith(world);
    talk.send({ type: "response.create", input: "Go" });
    const { response } = await readUntil(talk, "response.created");
    talk.send({ type: "response.create", input: "Next" });
    const messages = ["And", "three"].map((text) => ({ role: "user", content: text }));
    const accepted = await steer(talk, { previous_response_id: idOf(response), input: messages });
    expect(accepted).toMatchObject({ type: "response.steer.accepted", delivered_as: "steer" });
    more.open();
    const first = lastOf(await talk.end());
    expect(first["id"]).toBe(idOf(response));
    expect(textIn(first)).toContain("You said: And");
    expect(textIn(lastOf(await talk.end()))).toBe("You said: Next");
    expect(world.heard().join("|")).toMatch(/^Go\|And\s+three\|Next$/);
  });

  it("A message that the running turn cannot receive is pending and gets its own turn afterwards [OR-76] [ACP-118]", async () => {
    const scripts = [wants({ id: "c1", name: "look" }), says("Done."), echoes()];
    const provider = providerOf(scripts, { injectionPoints: ["turn-start"] });
    const { world, talk, responseId, gate } = await startResponse({}, { provider });
    const fields = { previous_response_id: responseId, input: "Too late?" };
    const accepted = await steer(talk, fields);
    expect(accepted).toMatchObject({ type: "response.steer.accepted", delivered_as: "queue" });
    expect(await talk.next()).toEqual({
      type: "response.steer.pending",
      sequence_number: expect.any(Number),
      steer: accepted["steer"],
      reason: "waiting_for_next_turn",
      required_input: [],
    });
    gate.open();
    const response = lastOf(await talk.end());
    expect(textIn(response)).toContain("Done.");
    await called(world, 3);
    expect(world.heard()).toEqual(["Go", "", "Too late?"]);
    const continuation = { input: "And now?", previous_response_id: responseId };
    expect((await talk.turn(continuation)).at(-1)).toMatchObject({
      type: "error",
      error: { code: "previous_response_not_latest" },
    });
    const next = { input: "And now?", session_id: response["session_id"] };
    expect(textIn(lastOf(await talk.turn(next)))).toBe("You said: And now?");
  });

  it("A message for a response that ends with calls of the client's tools is delivered with their results [OR-76] [ACP-118]", async () => {
    const { talk, responseId, gate, world } = await startResponse(
      { tools: tools("fetch") },
      { calls: [{ id: "c2", name: "fetch" }] },
    );
    const accepted = await steer(talk, { previous_response_id: responseId, input: "First" });
    expect(accepted).toMatchObject({ type: "response.steer.accepted" });
    gate.open();
    const paused = lastOf(await talk.end());
    const call = outputOf(paused).find(({ type }) => type === "function_call");
    const again = await steer(talk, { previous_response_id: responseId, input: "Second" });
    expect(again).toMatchObject(failed("response_already_completed"));
    const output = { type: "function_call_output", call_id: call?.["call_id"], output: "ok" };
    const next = { previous_response_id: responseId, input: [output] };
    expect(textIn(lastOf(await talk.turn(next)))).toBe("You said: First");
    expect(world.heard()).toEqual(["Go", "First"]);
  });

  it("A response that is not stored can be steered on its own WebSocket only [OR-76] [OR-39]", async () => {
    const { world, talk, responseId, gate } = await startResponse({ store: false });
    const other = await talkWith(world);
    const fields = { previous_response_id: responseId, input: "Faster" };
    expect(await steer(other, fields)).toMatchObject(failed("response_not_found"));
    expect(await steer(talk, fields)).toMatchObject({ type: "response.steer.accepted" });
    gate.open();
    expect(textIn(lastOf(await talk.end()))).toContain("You said: Faster");
  });

  it("Only the owner of a stored response can steer it, on any WebSocket [OR-76] [OR-36]", async () => {
    const keys = [
      { name: "ann", key: "sk-of-ann-0123456789" },
      { name: "bob", key: "sk-of-bob-0123456789" },
    ];
    const { world, talk, responseId, gate } = await startResponse({}, { keys });
    const fields = { previous_response_id: responseId, input: "Faster" };
    const bob = await talkWith(world, "/responses", "sk-of-bob-0123456789");
    const refusal = await steer(bob, fields);
    expect(refusal).toMatchObject({ ...failed("response_not_found"), steer: fields });
    const ann = await talkWith(world, "/responses", "sk-of-ann-0123456789");
    expect(await steer(ann, fields)).toMatchObject({ type: "response.steer.accepted" });
    gate.open();
    expect(textIn(lastOf(await talk.end()))).toContain("You said: Faster");
  });

  it("A response that has ended or not started is not steered [OR-76] [ACP-118]", async () => {
    const { world, talk, responseId, gate } = await startResponse();
    const session = responseId.replace(/^resp_(.*)_\d+$/, "$1");
    const waiting = await ask(world, { input: "Later", session_id: session, background: true });
    const fields = { previous_response_id: waiting.body["id"], input: "Faster" };
    expect(await steer(talk, fields)).toMatchObject(failed("response_not_active"));
    gate.open();
    expect(lastOf(await talk.end())).toMatchObject({ status: "completed" });
    const late = await steer(talk, { previous_response_id: responseId, input: "Faster" });
    expect(late).toMatchObject({
      ...failed("response_already_completed"),
      steer: { previous_response_id: responseId, input: "Faster" },
    });
    expect(world.heard()).not.toContain("Faster");
  });

  const user = (content: unknown) => [{ role: "user", content }];
  it.each([
    ["no input", {}],
    ["null as input", { input: null }],
    ["an empty list", { input: [] }],
    ["a number as input", { input: 7 }],
    ["blank text", { input: " \n" }],
    ["a message without content", { input: [{ role: "user" }] }],
    ["a message without parts", { input: user([]) }],
    ["a system message", { input: [{ role: "system", content: "Obey" }] }],
    ["a tool result", { input: [{ type: "function_call_output", call_id: "c1", output: "x" }] }],
    ["a file", { input: user([{ type: "input_file", file_id: "f" }]) }],
    ["an invalid image", { input: user([{ type: "input_image", image_url: "data:x,y" }]) }],
    ["too many characters", { input: "x".repeat(1_100_000) }],
    ["no response id", { input: "Hi", previous_response_id: undefined }],
    ["a number as response id", { input: "Hi", previous_response_id: 1 }],
    ["a huge response id", { input: "Hi", previous_response_id: "r".repeat(10_000) }],
  ])("A steer event with %s fails, and the response continues [OR-76]", async (_, fields) => {
    const { world, talk, responseId, gate } = await startResponse({}, { answers: [says("Done.")] });
    const outcome = await steer(talk, { previous_response_id: responseId, ...fields });
    expect(outcome).toMatchObject(failed("invalid_input"));
    expect(outcome["steer"]).toMatchObject({ input: "input" in fields ? fields.input : null });
    gate.open();
    expect(textIn(lastOf(await talk.end()))).toContain("Done.");
    expect(world.heard()).toEqual(["Go", ""]);
  });

  it.each([
    "resp_unknown",
    "resp_ses_00000000000000000000000000000000_1",
    "../../etc/passwd",
    "__proto__",
    "",
  ])(
    "A steer event for the response %j fails, and the WebSocket stays usable [OR-76]",
    async (id) => {
      const world = await worldOf([echoes()]);
      const talk = await talkWith(world);
      const outcome = await steer(talk, { previous_response_id: id, input: "Hi" });
      expect(outcome).toEqual({
        type: "response.steer.failed",
        sequence_number: 0,
        steer: { previous_response_id: id, input: "Hi" },
        error: {
          type: "invalid_request_error",
          code: "response_not_found",
          message: expect.stringContaining(`"${id}"`),
        },
      });
      expect(textIn(lastOf(await talk.turn({ input: "One" })))).toBe("You said: One");
    },
  );

  it("Steer events count against the rate limit of the key [OR-46]", async () => {
    const { talk, responseId, gate } = await startResponse(
      {},
      { rates: { requestsPerMinute: 1, burst: 3 } },
    );
    const fields = { previous_response_id: responseId, input: "Faster" };
    expect(await steer(talk, fields)).toMatchObject({ type: "response.steer.accepted" });
    expect(await steer(talk, fields)).toMatchObject(failed("rate_limit_exceeded"));
    gate.open();
    expect(lastOf(await talk.end())).toMatchObject({ status: "completed" });
  });
});
