import { describe, expect, it } from "vitest";
import * as sdk from "acp-sdk-2";
import { createHttpStream } from "acp-sdk-2/experimental/http-client";
import { isObject, type JsonObject, type JsonValue } from "../../../src/data/json.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { createAskUserTool } from "../../../src/tools/ask-user-tool.ts";
import {
  connectAcpClient,
  readText,
  type AcpPeer,
  type Message,
} from "../../support/acp/acp-client.ts";
import { startAcpServer, TOKEN } from "../../support/acp/acp-server.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { says, wants, type ProviderScript } from "../../support/session/scripted-provider.ts";
import { createTool, readUntil } from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const FORMS = { elicitation: { form: {} } };
const BRIDGE = { _meta: { harn: {} } };
const SCHEMA: JsonObject = {
  type: "object",
  properties: { city: { type: "string" }, nights: { type: "integer", minimum: 1 } },
  required: ["city", "nights"],
};

function createAskingSessions(input: JsonObject, ...others: readonly ProviderScript[]) {
  return createClientToolSessions(
    [wants({ id: "c1", name: "ask_user", input }), says("Thank you."), ...others],
    { tools: [createAskUserTool()], askUser: { waitMs: 86_400_000 } },
  );
}

async function openSession(client: AcpPeer, clientCapabilities: object): Promise<string> {
  await client.request("initialize", { protocolVersion: 1, clientCapabilities });
  const { sessionId } = await client.requestResult("session/new", SETUP);
  return readText(sessionId);
}

function prompt(client: AcpPeer, sessionId: string): Promise<Message> {
  return client.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] });
}

function waitForMethod(client: AcpPeer, name: string): Promise<Message> {
  return client.waitForMessage(({ method }) => method === name);
}

function readParams({ params }: Message): JsonObject {
  return isObject(params) ? params : {};
}

function readHarn(update: Message | undefined): JsonValue {
  const meta = update?.["_meta"];
  return isObject(meta) ? (meta["harn"] ?? null) : null;
}

function respond(client: AcpPeer, { id }: Message, result: object): void {
  client.send({ jsonrpc: "2.0", id, result });
}

/** The names of an object's fields, and of the fields of its nested objects. */
function shape(value: JsonValue | undefined): unknown {
  if (!isObject(value)) return Array.isArray(value) ? "list" : "value";
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, shape(value[name])]),
  );
}

async function connectHost(input: JsonObject) {
  const { sessions, listResults } = createAskingSessions(input);
  const client = await connectAcpClient(sessions);
  const sessionId = await openSession(client, BRIDGE);
  const answer = prompt(client, sessionId);
  const notification = readParams(await waitForMethod(client, "harn.hitl.requested"));
  const requestId = readText(notification["request_id"]);
  const respondWith = (fields: object, method = "harn.hitl.respond") =>
    client.request(method, { request_id: requestId, sessionId, ...fields });
  return { client, sessions, sessionId, answer, notification, requestId, respondWith, listResults };
}

describe("A question to a bridge host", () => {
  it("The host receives hitl_request and harn.hitl.requested, responds, and receives hitl_resolved [B-047] [B-048] [B-093]", async () => {
    const host = await connectHost({
      question: "Which?",
      options: ["red", "blue"],
      default: "red",
    });
    const { client, sessionId, requestId, notification } = host;
    expect(requestId).toMatch(/^hitl_question_/);
    expect(notification).toMatchObject({
      sessionId,
      kind: "question",
      agent: "demo",
      run_id: expect.stringMatching(/^turn_/),
      requested_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      payload: {
        prompt: "Which?",
        options: ["red", "blue"],
        default: "red",
        approval_request: {
          id: requestId,
          action: "Which?",
          approvers_required: 1,
          args: { question: "Which?", options: ["red", "blue"], default: "red" },
        },
      },
    });
    expect(await host.respondWith({ answer: "blue", reviewer: "Ada" })).toMatchObject({
      result: { ok: true },
    });
    expect(await host.answer).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(await host.listResults(sessionId)).toEqual(["blue"]);
    const updates = client.listUpdates();
    const request = updates.find(({ sessionUpdate }) => sessionUpdate === "hitl_request");
    expect(readHarn(request)).toMatchObject({
      requestId,
      kind: "question",
      payload: notification["payload"],
    });
    const resolved = updates.find(({ sessionUpdate }) => sessionUpdate === "hitl_resolved");
    expect(readHarn(resolved)).toEqual({ requestId, kind: "question", outcome: "answered" });
    expect(client.messages.filter(({ method }) => method === "session/request_permission")).toEqual(
      [],
    );
  });

  it("payload.approval_request has the same shape as in session/request_permission, for a tool and for a question [B-112]", async () => {
    const input = { question: "Which?", options: ["red", "blue"] };
    const { notification } = await connectHost(input);
    const { payload } = notification;
    const expected = shape(isObject(payload) ? payload["approval_request"] : null);
    const save = createTool({ name: "save" }, () => "saved");
    const script = [wants({ id: "c1", name: "save", input }), says("Saved.")];
    const approvals = { deny: [], ask: [], allow: [], default: "ask" } as const;
    const tool = createClientToolSessions(script, { tools: [save], approvals });
    for (const { sessions } of [tool, createAskingSessions(input)]) {
      const client = await connectAcpClient(sessions);
      void prompt(client, await openSession(client, {}));
      const request = await waitForMethod(client, "session/request_permission");
      expect(shape(readParams(request)["approvalRequest"])).toEqual(expected);
    }
  });

  it.each<[string, JsonObject, object, string]>([
    [
      "approved",
      { question: "Deploy?", kind: "approval" },
      { approved: true },
      '{"approved":true}',
    ],
    ["accepted", { question: "Help", kind: "escalation" }, { accepted: true }, '{"accepted":true}'],
    [
      "approved: false",
      { question: "Deploy?", kind: "approval" },
      { approved: false, reason: "No" },
      "Not approved. The reason given: No",
    ],
  ])(
    "The host answers with %s, also under the name with an underscore",
    async (_, input, fields, result) => {
      const host = await connectHost(input);
      expect(host.notification["kind"]).toBe(input["kind"]);
      expect(await host.respondWith(fields, "_harn/harn.hitl.respond")).toMatchObject({
        result: { ok: true },
      });
      await host.answer;
      expect(await host.listResults(host.sessionId)).toEqual([result]);
    },
  );

  it.each<[string, object]>([
    ["without an answer", {}],
    ["with two answers", { answer: "red", approved: true }],
    ["with an answer that is not an option", { answer: "green" }],
    ["with a yes to a question", { approved: true }],
    ["with approved as a string", { approved: "yes" }],
    ["with a reviewer that is not a string", { answer: "red", reviewer: 7 }],
    ["without a request id", { request_id: null, answer: "red" }],
  ])("A response %s is refused with -32602, and the question stays open", async (_, fields) => {
    const host = await connectHost({ question: "Which?", options: ["red", "blue"] });
    expect(await host.respondWith(fields)).toMatchObject({ error: { code: -32602 } });
    expect(await host.respondWith({ answer: "red" })).toMatchObject({ result: { ok: true } });
  });

  it("A second answer is refused as a conflict, and the first one counts", async () => {
    const host = await connectHost({ question: "Which?" });
    await host.respondWith({ answer: "one" });
    expect(await host.respondWith({ answer: "two" })).toMatchObject({
      error: { data: { code: "conflict" } },
    });
    await host.answer;
    expect(await host.listResults(host.sessionId)).toEqual(["one"]);
  });

  it("A response may omit the session id only if the connection has one session [W-18]", async () => {
    const host = await connectHost({ question: "Which?" });
    const { client, requestId } = host;
    await client.requestResult("session/new", SETUP);
    const fields = { request_id: requestId, answer: "one" };
    expect(await client.request("harn.hitl.respond", fields)).toMatchObject({
      error: { code: -32602, data: { path: "sessionId" } },
    });
    expect(await host.respondWith({ answer: "two" })).toMatchObject({ result: { ok: true } });
    const other = await connectHost({ question: "Which?" });
    expect(
      await other.client.request("harn.hitl.respond", { request_id: other.requestId, answer: "x" }),
    ).toMatchObject({ result: { ok: true } });
  });

  it("A host that connects later is asked about the open question, and an observer cannot answer it", async () => {
    const { sessions, listResults } = createAskingSessions({ question: "Which?" });
    const editor = await connectAcpClient(sessions);
    const sessionId = await openSession(editor, {});
    const answer = prompt(editor, sessionId);
    await editor.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("ask_user"));
    const host = await connectAcpClient(sessions);
    await host.request("initialize", { protocolVersion: 1, clientCapabilities: BRIDGE });
    await host.requestResult("session/load", { sessionId, ...SETUP });
    const attach = { sessionId, clientId: "host", mode: "observer" };
    await host.requestResult("session/attach", attach);
    const approvalId = await findOpenRequest(sessions, sessionId);
    const respondWith = () =>
      host.request("harn.hitl.respond", { sessionId, request_id: approvalId, answer: "late" });
    expect(await respondWith()).toMatchObject({ error: { data: { code: "access_denied" } } });
    await host.requestResult("session/takeover", { sessionId, clientId: "host" });
    const notification = readParams(await waitForMethod(host, "harn.hitl.requested"));
    expect(notification["request_id"]).toBe(approvalId);
    expect(await respondWith()).toMatchObject({ result: { ok: true } });
    expect(await answer).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(await listResults(sessionId)).toEqual(["late"]);
    // Free text cannot be shown as a permission request.
    expect(
      editor.messages.filter(({ id, method }) => id !== undefined && method !== undefined),
    ).toEqual([]);
  });
});

/** The id of the first request in the log. */
async function findOpenRequest(
  sessions: ReturnType<typeof createAskingSessions>["sessions"],
  sessionId: string,
): Promise<string> {
  const isRequest = ({ event }: Envelope): boolean => event.type === "approval.requested";
  const event = (await readUntil(sessions, sessionId, isRequest)).at(-1)?.event;
  return event?.type === "approval.requested" ? event.approvalId : "";
}

describe("A question to a stock client with forms", () => {
  async function elicit(input: JsonObject) {
    const { sessions, listResults } = createAskingSessions(input);
    const client = await connectAcpClient(sessions);
    const sessionId = await openSession(client, FORMS);
    const answer = prompt(client, sessionId);
    const request = await waitForMethod(client, "elicitation/create");
    return { client, sessionId, answer, request, listResults };
  }

  it("A question for free text is sent as a form with one field, and the answer is the tool result", async () => {
    const { client, sessionId, answer, request, listResults } = await elicit({
      question: "Which?",
    });
    expect(readParams(request)).toMatchObject({
      mode: "form",
      sessionId,
      toolCallId: expect.stringMatching(/^tool_/),
      message: "Which?",
      requestedSchema: {
        type: "object",
        properties: { answer: { type: "string" } },
        required: ["answer"],
      },
    });
    respond(client, request, { action: "accept", content: { answer: "Bern" } });
    expect(await answer).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(await listResults(sessionId)).toEqual(["Bern"]);
    expect(client.messages.some(({ method }) => method === "harn.hitl.requested")).toBe(false);
  });

  it("The options of a question are the choices of the form's field", async () => {
    const { client, sessionId, answer, request, listResults } = await elicit({
      question: "Which?",
      options: ["red", "blue"],
    });
    expect(readParams(request)["requestedSchema"]).toMatchObject({
      properties: { answer: { enum: ["red", "blue"] } },
    });
    respond(client, request, { action: "accept", content: { answer: "blue" } });
    await answer;
    expect(await listResults(sessionId)).toEqual(["blue"]);
  });

  it("A question is sent again if the answer does not fit its form", async () => {
    const { client, sessionId, answer, request, listResults } = await elicit({
      question: "Book?",
      schema: SCHEMA,
    });
    expect(readParams(request)["requestedSchema"]).toEqual(SCHEMA);
    respond(client, request, { action: "accept", content: { city: "Bern" } });
    const again = await client.waitForMessage(
      ({ id, method }) => method === "elicitation/create" && id !== request["id"],
    );
    respond(client, again, { action: "accept", content: { city: "Bern", nights: 2 } });
    await answer;
    expect(await listResults(sessionId)).toEqual(['{"city":"Bern","nights":2}']);
  });

  it.each([
    ["decline", "The person declined to answer."],
    [
      "cancel",
      "The person declined to answer. The reason given: The person dismissed the question",
    ],
  ])("The action %s declines the question", async (action, text) => {
    const { client, sessionId, answer, request, listResults } = await elicit({
      question: "Which?",
    });
    respond(client, request, { action });
    await answer;
    expect(await listResults(sessionId)).toEqual([text]);
  });

  it("An error is not an answer: the question stays open for others", async () => {
    const { sessions, listResults } = createAskingSessions({ question: "Which?" });
    const client = await connectAcpClient(sessions);
    const sessionId = await openSession(client, FORMS);
    const answer = prompt(client, sessionId);
    const { id } = await waitForMethod(client, "elicitation/create");
    client.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
    // The response to a later request arrives after the error was handled.
    await client.request("session/list", {});
    const approvalId = await findOpenRequest(sessions, sessionId);
    const command = { type: "decide-approval", approvalId, answer: "Bern" } as const;
    const principal = { id: "other", rights: ["approve"] } as const;
    expect(await sessions.command(sessionId, command, { principal })).toEqual({
      status: "accepted",
    });
    await answer;
    expect(await listResults(sessionId)).toEqual(["Bern"]);
  });
});

describe("A question to a stock client without forms", () => {
  async function request(input: JsonObject) {
    const { sessions, listResults } = createAskingSessions(input);
    const client = await connectAcpClient(sessions);
    const sessionId = await openSession(client, {});
    const answer = prompt(client, sessionId);
    const permission = await waitForMethod(client, "session/request_permission");
    return { client, sessionId, answer, permission, listResults };
  }

  it("A client without forms receives the options of a question as a permission request with the HITL id [B-093]", async () => {
    const { client, sessionId, answer, permission, listResults } = await request({
      question: "Which?",
      options: ["red", "blue"],
    });
    expect(readParams(permission)).toMatchObject({
      toolCall: { toolCallId: expect.stringMatching(/^tool_/), title: "Which?" },
      approvalRequest: { id: expect.stringMatching(/^hitl_question_/) },
      options: [
        { optionId: "choice_1", name: "red", kind: "allow_once" },
        { optionId: "choice_2", name: "blue", kind: "allow_once" },
        { optionId: "decline", name: "Decline", kind: "reject_once" },
      ],
    });
    respond(client, permission, { outcome: { outcome: "selected", optionId: "choice_2" } });
    await answer;
    expect(await listResults(sessionId)).toEqual(["blue"]);
  });

  it("A question of the kind approval is sent as a permission request with the options yes and no", async () => {
    const { client, sessionId, answer, permission, listResults } = await request({
      question: "Deploy?",
      kind: "approval",
    });
    respond(client, permission, { outcome: { outcome: "selected", optionId: "answer" } });
    await answer;
    expect(await listResults(sessionId)).toEqual(['{"approved":true}']);
  });

  it("A client that cancels the permission request ends the turn", async () => {
    const { client, answer, permission } = await request({ question: "?", options: ["a", "b"] });
    respond(client, permission, { outcome: { outcome: "cancelled" } });
    expect(await answer).toMatchObject({ result: { stopReason: "cancelled" } });
  });
});

describe("Questions on every transport", () => {
  const authorization = `Bearer ${TOKEN}`;

  it("A bridge host answers over WebSocket [B-112] [ACP-139]", async () => {
    const { sessions, listResults } = createAskingSessions({ question: "Which?" });
    const server = await startAcpServer(sessions);
    const client = await server.connect();
    const sessionId = await openSession(client, BRIDGE);
    const answer = prompt(client, sessionId);
    const { request_id } = readParams(await waitForMethod(client, "harn.hitl.requested"));
    expect(
      await client.requestResult("harn.hitl.respond", { sessionId, request_id, answer: "Bern" }),
    ).toEqual({ ok: true });
    await answer;
    expect(await listResults(sessionId)).toEqual(["Bern"]);
  });

  it("The official client answers an elicitation over HTTP [ACP-139]", async () => {
    const { sessions, listResults } = createAskingSessions({ question: "Which?" });
    const { url } = await startAcpServer(sessions);
    const app = sdk
      .client()
      .onNotification("session/update", () => undefined)
      .onRequest("elicitation/create", ({ params }) => ({
        action: "accept",
        content: { answer: `to ${params.message}` },
      }));
    const sessionId = await runOverHttp(app, url, FORMS);
    expect(await listResults(sessionId)).toEqual(["to Which?"]);
  });

  it("A bridge host answers over HTTP [B-112] [ACP-139]", async () => {
    const { sessions, listResults } = createAskingSessions({ question: "Which?" });
    const { url } = await startAcpServer(sessions);
    const results: unknown[] = [];
    const readRequest = (params: unknown) => ({
      sessionId: Object(params)["sessionId"],
      request_id: Object(params)["request_id"],
    });
    const app = sdk
      .client()
      .onNotification("session/update", () => undefined)
      .onNotification("_harn/agentEvent", readRequest, () => undefined)
      .onNotification("harn.hitl.requested", readRequest, ({ params, agent }) => {
        void agent
          .request("harn.hitl.respond", { ...params, answer: "Bern" })
          .then((result) => results.push(result));
      });
    // The official client rejects updates which ACP does not define, so the host asks for agent events.
    const sessionId = await runOverHttp(app, url, { _meta: { harn: { agentEvents: true } } });
    expect(await listResults(sessionId)).toEqual(["Bern"]);
    expect(results).toEqual([{ ok: true }]);
  });

  /** Runs a turn with a question and returns the id of the session. */
  async function runOverHttp(
    app: sdk.ClientApp,
    url: string,
    clientCapabilities: object,
  ): Promise<string> {
    const { agent } = app.connect(createHttpStream(`${url}/acp`, { headers: { authorization } }));
    await agent.request("initialize", { protocolVersion: 1, clientCapabilities });
    const { sessionId } = await agent.request("session/new", { cwd: "/work", mcpServers: [] });
    await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] });
    return sessionId;
  }
});

describe("Many sessions", () => {
  it("An unanswered question delays no other session and no other client, with 50 sessions", async () => {
    const scripts = Array.from({ length: 49 }, () => says("Done."));
    const { sessions, listResults } = createAskingSessions({ question: "Which?" }, ...scripts);
    const asking = await connectAcpClient(sessions);
    const sessionId = await openSession(asking, FORMS);
    const waiting = prompt(asking, sessionId);
    const request = await waitForMethod(asking, "elicitation/create");
    const other = await connectAcpClient(sessions);
    await other.request("initialize", { protocolVersion: 1 });
    const run = async (client: AcpPeer): Promise<JsonValue | undefined> => {
      const created = await client.requestResult("session/new", SETUP);
      return (await prompt(client, readText(created["sessionId"])))["result"];
    };
    // The same connection and another connection; the question of the first session stays open all the time.
    const results = await Promise.all(
      Array.from({ length: 49 }, (_, at) => run(at % 2 === 0 ? asking : other)),
    );
    expect(new Set(results.map((result) => JSON.stringify(result)))).toEqual(
      new Set(['{"stopReason":"end_turn"}']),
    );
    expect(await listResults(sessionId)).toEqual([]);
    respond(asking, request, { action: "accept", content: { answer: "Bern" } });
    expect(await waiting).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(await listResults(sessionId)).toEqual(["Bern"]);
  });
});
