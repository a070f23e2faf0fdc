import { describe, expect, it } from "vitest";
import { advanceUntil, createFakeClock } from "../../../test/support/fake-clock.ts";
import { createApiClient, type ApiRequestInit } from "./api-client.ts";
import { createSessionActions, openSession } from "./session-api.ts";

interface SentRequest extends Pick<ApiRequestInit, "method" | "headers" | "body"> {
  readonly path: string;
}

/** An API with scripted responses: a status with a body, or `lost` for no response. */
function scriptedApi(...answers: readonly (readonly [number, unknown] | "lost")[]) {
  const sent: SentRequest[] = [];
  let keys = 0;
  const clock = createFakeClock();
  const api = createApiClient({
    async fetch(path, { method, headers, body }) {
      const answer = answers[sent.length] ?? "lost";
      sent.push({ path, method, headers, body });
      if (answer === "lost") throw new TypeError("Failed to fetch");
      const [status, value] = answer;
      return {
        status,
        text: async () => (typeof value === "string" ? value : JSON.stringify(value)),
      };
    },
    clock,
    random: () => 0,
    createKey: () => `key-${(keys += 1)}`,
  });
  const live = { attach: async () => ({ ok: true, value: undefined }) as const };
  const actions = createSessionActions("ses/1", { api, live, clientName: "Tab" });
  return { api, actions, clock, sent };
}

describe("The API client", () => {
  it("A command is one request with a key", async () => {
    const { actions, sent } = scriptedApi([200, { status: "accepted" }]);
    expect(await actions.prompt({ text: "Hello" })).toEqual({ ok: true, value: undefined });
    expect(sent).toEqual([
      {
        path: "/api/sessions/ses%2F1/commands",
        method: "POST",
        headers: {
          accept: "application/json",
          "idempotency-key": "key-1",
          "content-type": "application/json",
        },
        body: `{"type":"prompt","text":"Hello"}`,
      },
    ]);
  });

  it("A lost response is repeated with the same key, and the next command has another key", async () => {
    const { actions, clock, sent } = scriptedApi("lost", [503, ""], [200, {}], [200, {}]);
    const done = actions.cancel("turn_1");
    await advanceUntil(clock, done);
    expect(await done).toEqual({ ok: true, value: undefined });
    await actions.setMode("ask");
    const keys = sent.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toEqual(["key-1", "key-1", "key-1", "key-2"]);
  });

  it("The fifth attempt without a response is the last", async () => {
    const { actions, clock, sent } = scriptedApi();
    const done = actions.revokeMessage("msg_1");
    await advanceUntil(clock, done);
    expect(await done).toMatchObject({ ok: false, error: { code: "connect_failed" } });
    expect(sent.length).toBe(5);
  });

  it("A refusal is returned with its code, message and hint, and is not repeated", async () => {
    const error = { code: "conflict", message: "The approval is resolved", hint: "Look again" };
    const { actions, sent } = scriptedApi([409, { error }]);
    expect(await actions.decide("appr_1", { decision: "allow" })).toEqual({ ok: false, error });
    expect(sent.map(({ body }) => body)).toEqual([
      `{"type":"answer","approvalId":"appr_1","decision":"allow"}`,
    ]);
  });

  it.each([
    [500, "<html>", "The bridge answered with the status 500"],
    [404, { error: { code: 1 } }, "The bridge answered with the status 404"],
  ])(
    "A response with the status %i that is not an error of the API is named by its status",
    async (status, body, message) => {
      const { api } = scriptedApi([status, body]);
      const result = await api.request({ method: "GET", path: "/api/sessions" });
      expect(result).toEqual({ ok: false, error: { code: "unexpected_answer", message } });
    },
  );

  it("A tool call which cannot be stopped is an error, and a stopped tool call is a success", async () => {
    const { actions, sent } = scriptedApi(
      [200, { status: "accepted", toolCallStatus: "cancelled" }],
      [200, { status: "accepted", toolCallStatus: "not_found" }],
    );
    expect(await actions.cancelToolCall("tool_1")).toEqual({ ok: true, value: undefined });
    expect(await actions.cancelToolCall("tool_1")).toMatchObject({
      ok: false,
      error: { code: "not_found" },
    });
    expect(sent[0]?.body).toBe(`{"type":"cancel-tool-call","toolCallId":"tool_1"}`);
  });

  it("A new session and a fork resolve with the id of the session", async () => {
    const { api, actions } = scriptedApi(
      [201, { sessionId: "ses_2" }],
      [201, { sessionId: "ses_3" }],
      [201, {}],
    );
    expect(await openSession(api, { agent: "demo" })).toEqual({ ok: true, value: "ses_2" });
    expect(await actions.fork(7)).toEqual({ ok: true, value: "ses_3" });
    expect(await openSession(api, {})).toMatchObject({ ok: false });
  });
});
