import { describe, expect, it } from "vitest";
import { defineAgent } from "../../../src/bridge/agent/define-agent.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import type { Fields } from "../support/recorded-stream.ts";
import { serveSessions } from "../support/serve-sessions.ts";
import {
  ask,
  echoes,
  errorIn,
  outputOf,
  providerOf,
  textIn,
  tools,
  worldOf,
  type Answered,
  type World,
} from "./responses-world.ts";

const SETTINGS = { statelessAgents: ["scripted"] };
const SESSION = "x-spanline-session";
const CHAT = { path: "/chat/completions" };
const LOOKS = wants({ id: "c1", name: "look" });

const user = (content: string) => ({ role: "user", content });
const toldTo = (world: World) => world.provider.invocations.map(({ history }) => history.length);
const refusal = (answer: Answered) => [answer.status, errorIn(answer)] as const;

function messageOf({ body }: Answered): Fields {
  const [choice] = Array.isArray(body["choices"]) ? body["choices"] : [];
  return choice.message;
}

describe("Stateless agents", () => {
  it("A stateless agent gets the whole conversation with every request, and ids in it are ignored", async () => {
    const world = await worldOf([echoes()], { settings: SETTINGS });
    const input: object[] = [];
    for (const words of ["One", "Two", "Three"]) {
      input.push(user(words));
      const { status, body, headers } = await ask(world, { input });
      expect([status, textIn(body)]).toEqual([200, `You said: ${words}`]);
      expect(headers.get("x-spanline-history")).toBe(words === "One" ? null : "replayed");
      input.push(...outputOf(body));
    }
    expect(toldTo(world)).toEqual([0, 2, 4]);
    const sessions = world.provider.invocations.map(({ sessionId }) => sessionId);
    expect(new Set(sessions).size).toBe(3);
  });

  it("A stateless agent gets the whole conversation of a chat", async () => {
    const world = await worldOf([echoes()], { settings: SETTINGS });
    const messages: object[] = [];
    for (const words of ["One", "Two", "Three"]) {
      messages.push(user(words));
      const answer = await ask(world, { messages }, CHAT);
      expect(answer.status).toBe(200);
      messages.push(messageOf(answer));
    }
    expect(toldTo(world)).toEqual([0, 2, 4]);
    const { status } = await ask(
      world,
      { messages: [...messages, user("Four")] },
      {
        path: "/inference",
      },
    );
    expect(status).toBe(200);
  });

  it("A stateless agent gets its history even with foreignHistory: reject", async () => {
    const settings = { ...SETTINGS, foreignHistory: "reject" } as const;
    const world = await worldOf([echoes()], { settings });
    const input = [user("One"), { role: "assistant", content: "Yes" }, user("Two")];
    expect((await ask(world, { input })).status).toBe(200);
    expect(toldTo(world)).toEqual([2]);
  });

  it("A request to a stateless agent that names a session is refused with the reason [OR-31]", async () => {
    const world = await worldOf([echoes()], { settings: SETTINGS });
    const { body } = await ask(world, { input: "One" });
    const session = String(body["session_id"]);
    const unknown = `ses_${"0".repeat(32)}`;
    const bodies: [string, object][] = [
      ["previous_response_id", { previous_response_id: body["id"] }],
      ["conversation", { conversation: session }],
      ["conversation", { conversation: unknown }],
      ["session_id", { session_id: session }],
      ["metadata.session_id", { metadata: { session_id: session } }],
    ];
    for (const [param, named] of bodies) {
      const [status, error] = refusal(await ask(world, { input: "Two", ...named }));
      expect([status, error]).toMatchObject([400, { code: "stateless_agent", param }]);
      expect(error["message"]).toContain(`is stateless, but "${param}" names a conversation`);
      expect(error["message"]).toContain("Send the whole conversation");
    }
    const headers = { [SESSION]: session };
    const byHeader = refusal(await ask(world, { input: "Two" }, { headers }));
    expect(byHeader).toMatchObject([400, { code: "stateless_agent", param: SESSION }]);
    const chat = { messages: [user("Two")], session_id: session };
    const byChat = refusal(await ask(world, chat, CHAT));
    expect(byChat).toMatchObject([400, { code: "stateless_agent", param: "session_id" }]);
    const begun = refusal(await ask(world, {}, { path: "/conversations" }));
    expect(begun).toMatchObject([400, { code: "stateless_agent", param: "model" }]);
    expect(world.heard()).toEqual(["One"]);
  });

  it("A stateless agent does not continue the session of another agent [OR-36]", async () => {
    const [statelessProvider, fresh] = [providerOf([echoes()]), providerOf([echoes()])];
    const world = await serveSessions({
      agents: [
        defineAgent({ name: "kept", provider: statelessProvider }),
        defineAgent({ name: "fresh", provider: fresh }),
      ],
      settings: { statelessAgents: ["fresh"] },
    });
    const { body } = await ask(world, { model: "kept", input: "One" });
    for (const named of [
      { conversation: body["session_id"] },
      { previous_response_id: body["id"] },
    ]) {
      const answer = refusal(await ask(world, { model: "fresh", input: "Two", ...named }));
      expect(answer).toMatchObject([400, { code: "agent_mismatch", param: "model" }]);
    }
    expect(fresh.invocations).toEqual([]);
    const conversation = [user("One"), ...outputOf(body), user("Two")];
    const moved = await ask(world, { model: "fresh", input: conversation });
    expect([moved.status, moved.body["model"]]).toEqual([200, "fresh"]);
    const back = { conversation: body["session_id"], input: "Two" };
    expect((await ask(world, back)).body["model"]).toBe("kept");
  });
});

describe("Client tool calls of stateless agents", () => {
  async function paused() {
    const world = await worldOf([LOOKS, says("Warm"), echoes()], { settings: SETTINGS });
    const { body } = await ask(world, { input: [user("Look")], tools: tools("look") });
    const call = outputOf(body).find(({ type }) => type === "function_call");
    const result = { type: "function_call_output", call_id: call?.["call_id"], output: "18" };
    const listInputTypes = () => world.provider.invocations.map(({ input }) => input.type);
    return { world, body, result, listInputTypes };
  }

  it("Results are accepted with the previous_response_id of the response that made the tool calls [OR-53]", async () => {
    const { world, body, result, listInputTypes } = await paused();
    const nextRequest = { input: [result], previous_response_id: body["id"] };
    const done = await ask(world, nextRequest);
    expect([done.status, textIn(done.body)]).toEqual([200, "Warm"]);
    expect(done.body["session_id"]).toBe(body["session_id"]);
    expect(listInputTypes()).toEqual(["prompt", "results"]);
    const again = await ask(world, nextRequest);
    expect([again.status, again.body["id"]]).toEqual([200, done.body["id"]]);
    const next = refusal(await ask(world, { input: "On", previous_response_id: done.body["id"] }));
    expect(next).toMatchObject([400, { code: "stateless_agent", param: "previous_response_id" }]);
  });

  it("Results are accepted inside the whole conversation, which is replayed with the next request [OR-53]", async () => {
    const { world, body, result, listInputTypes } = await paused();
    const whole = [user("Look"), ...outputOf(body), result];
    const done = await ask(world, { input: whole });
    expect([done.status, textIn(done.body)]).toEqual([200, "Warm"]);
    expect(listInputTypes()).toEqual(["prompt", "results"]);
    const headers = { "x-stainless-retry-count": "1" };
    const again = await ask(world, { input: whole }, { headers });
    expect(again.body["id"]).toBe(done.body["id"]);
    const late = refusal(
      await ask(world, { input: [...whole.slice(0, -1), { ...result, output: "19" }] }),
    );
    expect(late).toMatchObject([400, { code: "unknown_call" }]);
    const next = await ask(world, { input: [...whole, ...outputOf(done.body), user("On")] });
    expect([next.status, textIn(next.body)]).toEqual([200, "You said: On"]);
    expect(next.body["session_id"]).not.toBe(body["session_id"]);
    expect(toldTo(world).at(-1)).toBe(4);
  });

  it("Results of client tools are accepted in a chat [OR-68]", async () => {
    const world = await worldOf([LOOKS, says("Warm"), echoes()], { settings: SETTINGS });
    const offered = [{ type: "function", function: { name: "look" } }];
    const first = await ask(world, { messages: [user("Look")], tools: offered }, CHAT);
    const message = messageOf(first);
    const [call] = Array.isArray(message["tool_calls"]) ? message["tool_calls"] : [];
    const whole = [user("Look"), message, { role: "tool", tool_call_id: call.id, content: "18" }];
    const done = await ask(world, { messages: whole, tools: offered }, CHAT);
    expect([done.status, messageOf(done)["content"]]).toEqual([200, "Warm"]);
    const next = await ask(world, { messages: [...whole, messageOf(done), user("On")] }, CHAT);
    expect(messageOf(next)["content"]).toBe("You said: On");
    expect(world.provider.invocations.map(({ input }) => input.type)).toEqual([
      "prompt",
      "results",
      "prompt",
    ]);
  });

  it("Open tool calls may be abandoned by sending another message", async () => {
    const { world, body } = await paused();
    const input = [user("Look"), ...outputOf(body), user("Never mind")];
    const { status, body: next } = await ask(world, { input });
    expect([status, next["session_id"] === body["session_id"]]).toEqual([200, false]);
  });
});
