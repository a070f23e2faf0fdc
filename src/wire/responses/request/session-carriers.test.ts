import { describe, expect, it } from "vitest";
import { refused } from "../../../../test/responses/refused-requests.ts";
import { formatCallId, formatResponseId } from "../response-ids.ts";
import { formatItemId } from "../items/item-id.ts";
import {
  readCarriedState,
  findCarriers,
  createPreviousResponseNotFoundError,
  resolveSession,
  findStatelessCarriers,
  type CarrierContext,
} from "./session-carriers.ts";
import { readCreateRequest } from "./read-create-request.ts";

const ONE = "ses_0123456789abcdef0123456789abcdef";
const TWO = "550e8400-e29b-41d4-a716-446655440000";
const HEADER: CarrierContext = { header: { name: "x-session-id", value: ONE } };

function resolved(body: object, facts?: CarrierContext) {
  return resolveSession(findCarriers(readCreateRequest(body), facts));
}

function answerTo(body: object, facts?: CarrierContext) {
  return refused(() => resolved(body, facts));
}

function createBody(fields: object): object {
  return {
    input: [
      { role: "assistant", content: "Hi", ...fields },
      { role: "user", content: "x" },
    ],
  };
}

function resultOf(sessionId: string): object {
  return { type: "function_call_output", call_id: formatCallId(sessionId, "t"), output: "" };
}

describe("The session of a request", () => {
  it.each<[string, object, string, CarrierContext?]>([
    ["a header", {}, "x-session-id", HEADER],
    ["conversation as a string", { conversation: ONE }, "conversation"],
    ["conversation as an object", { conversation: { id: ONE } }, "conversation"],
    ["session_id", { session_id: ONE }, "session_id"],
    ["metadata", { metadata: { session_id: ONE } }, "metadata.session_id"],
    ["an assistant message", createBody({ session_id: ONE }), "input[0].session_id"],
    [
      "a part of an assistant message",
      createBody({ content: [{ type: "output_text", text: "", session_id: ONE }] }),
      "input[0].content.session_id",
    ],
  ])("The session is named by %s alone [OR-32]", (_, body, param, facts) => {
    const session = { type: "session", sessionId: ONE, param, isImplied: false };
    expect(resolved(body, facts)).toEqual(session);
  });

  it.each<[string, object, string]>([
    ["the id of a message", createBody({ id: formatItemId("message", ONE, "9-0") }), "id"],
    [
      "a reference",
      { input: [{ type: "item_reference", id: formatItemId("message", ONE, "9") }] },
      "id",
    ],
    ["the id of a tool call", { input: [resultOf(ONE)] }, "call_id"],
    [
      "an executed tool call",
      { input: [{ type: "mcp_call", id: formatItemId("mcp_call", ONE, "9"), name: "f" }] },
      "id",
    ],
  ])("The session is derived from %s alone [OR-32]", (_, body, field) => {
    const param = `input[0].${field}`;
    expect(resolved(body)).toEqual({ type: "session", sessionId: ONE, param, isImplied: true });
  });

  it("The session is named by the previous response, with its position [OR-32]", () => {
    const previous_response_id = formatResponseId({ sessionId: ONE, seq: 12 });
    const param = "previous_response_id";
    const session = { type: "session", sessionId: ONE, param, after: 12, isImplied: false };
    expect(resolved({ previous_response_id })).toEqual(session);
  });

  it("A request without a session id names no session, and foreign ids are ignored", () => {
    expect(resolved(createBody({ id: "msg_68a1b2c3d4" }))).toEqual({ type: "none" });
    const input = [{ type: "function_call_output", call_id: "call_abc", output: "" }];
    expect(resolved({ input })).toEqual({ type: "none" });
  });

  it("The session is found on an earlier message if the last has none [SD-6]", () => {
    const input = [
      { role: "assistant", content: "a", session_id: ONE },
      { role: "assistant", content: "b" },
      { role: "user", content: "c" },
    ];
    expect(resolved({ input })).toMatchObject({ sessionId: ONE });
  });

  it("The session id of a user message is ignored", () => {
    expect(resolved({ input: [{ role: "user", content: "x", session_id: TWO }] })).toEqual({
      type: "none",
    });
  });

  it.each<[string, object, string, CarrierContext?]>([
    ["a header and a conversation", { conversation: TWO }, "conversation", HEADER],
    [
      "a conversation and metadata",
      { conversation: ONE, metadata: { session_id: TWO } },
      "metadata.session_id",
    ],
    [
      "two messages",
      {
        input: [
          { role: "assistant", content: "", session_id: ONE },
          { role: "assistant", content: "", session_id: TWO },
        ],
      },
      "input[0].session_id",
    ],
    [
      "a conversation and an item",
      { conversation: ONE, ...createBody({ id: formatItemId("message", TWO, "3") }) },
      "input[0].id",
    ],
  ])("Different sessions in %s are refused [OR-33, SD-6]", (_, body, param, facts) => {
    const answer = { kind: "invalid_message", param, code: "conflicting_session" };
    expect(answerTo(body, facts)).toEqual(answer);
  });

  it("previous_response_id together with conversation is refused [OR-30]", () => {
    const body = {
      conversation: ONE,
      previous_response_id: formatResponseId({ sessionId: ONE, seq: 1 }),
    };
    const param = "previous_response_id";
    expect(answerTo(body)).toEqual({ kind: "invalid_message", param, code: "conflicting_state" });
  });

  it.each(["resp_unknown", "", "resp_1"])(
    "The unknown previous response %j is not found [OR-29]",
    (id) => {
      const param = "previous_response_id";
      const code = "previous_response_not_found";
      expect(answerTo({ previous_response_id: id })).toEqual({ kind: "not_found", param, code });
      const thrown = refused(() => {
        throw createPreviousResponseNotFoundError(id);
      });
      expect(thrown).toEqual({ kind: "not_found", param, code });
    },
  );

  it.each<[string, object, string]>([
    ["too short", { conversation: "abc" }, "conversation"],
    ["too long", { session_id: "a".repeat(257) }, "session_id"],
    ["a number", { session_id: 7 }, "session_id"],
    ["without letters", createBody({ session_id: "!".repeat(40) }), "input[0].session_id"],
  ])("A session id that is %s is refused [OR-35, SD-7]", (_, body, param) => {
    expect(answerTo(body)).toEqual({ kind: "invalid_message", param, code: "invalid_session_id" });
  });
});

describe("State carried by the caller", () => {
  it("The state of the newest message with state is used", () => {
    const input = [
      { role: "assistant", content: "a", cursor: 1, thread_id: "t" },
      {
        role: "assistant",
        content: "b",
        cursor: { at: 2 },
        session_id: ONE,
        phase: "final_answer",
      },
      { role: "assistant", content: "c", id: "m", status: "completed", type: "message" },
      { role: "user", content: "d", ignored: true },
    ];
    expect(readCarriedState(readCreateRequest({ input }))).toEqual({ cursor: { at: 2 } });
  });

  it("A key __proto__ is kept as data", () => {
    const body = JSON.parse('{"input":[{"role":"assistant","content":"a","__proto__":{"x":1}}]}');
    const state = readCarriedState(readCreateRequest(body));
    expect(Object.entries(state)).toEqual([["__proto__", { x: 1 }]]);
    expect(Object.getPrototypeOf(state)).toBe(Object.prototype);
  });
});

describe("The session of a request to a stateless agent", () => {
  const THREE = `ses_${"3".repeat(32)}`;
  const turn = (sessionId: string) => [
    { role: "user", content: "x" },
    { type: "function_call", call_id: formatCallId(sessionId, "t"), name: "f", arguments: "{}" },
    resultOf(sessionId),
    {
      role: "assistant",
      content: "Hi",
      session_id: sessionId,
      id: formatItemId("message", sessionId, "9"),
    },
  ];
  const stateless = (body: object) =>
    resolveSession(findStatelessCarriers(readCreateRequest(body)));

  it("Session ids in messages alone name no session", () => {
    const input = [...turn(ONE), ...turn(TWO), { role: "user", content: "x" }];
    expect(stateless({ input })).toEqual({ type: "none" });
  });

  it("A new tool result names the session of its tool call", () => {
    const input = [...turn(ONE), ...turn(THREE).slice(0, 3)];
    expect(stateless({ input })).toMatchObject({ sessionId: THREE, isImplied: true });
  });

  it("A session id of the request itself names the session", () => {
    const input = [...turn(ONE), { role: "user", content: "x" }];
    const named = stateless({ input, conversation: TWO });
    expect(named).toMatchObject({ sessionId: TWO, param: "conversation", isImplied: false });
  });
});
