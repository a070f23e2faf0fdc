import { describe, expect, it } from "vitest";
import { says } from "../support/session/scripted-provider.ts";
import { createMessage, serveA2a, type ServedA2a } from "./support/serve-a2a.ts";

const KEYS = [
  { name: "ada", key: "key-of-ada-000000001", rights: ["prompt", "approve"] },
  { name: "bob", key: "key-of-bob-000000001", rights: ["prompt"], agents: ["other"] },
  { name: "eve", key: "key-of-eve-000000001", rights: ["approve"] },
] as const;
const asCaller = (at: 0 | 1 | 2) => ({ authorization: `Bearer ${KEYS[at].key}` });

const send = (text: string, place: object = {}) => ({ message: createMessage(text, place) });

async function post(served: ServedA2a, body: string, headers: object = {}) {
  const response = await fetch(`${served.url}/a2a`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { status: response.status, json: await response.json() };
}

describe("The JSON-RPC binding", () => {
  it.each([
    ["text that is not JSON", "{", -32700, null],
    ["an empty object", "{}", -32600, null],
    ["a list", "[]", -32600, null],
    ["a method that is not text", '{"jsonrpc":"2.0","id":1,"method":2}', -32600, 1],
    ["a notification", '{"jsonrpc":"2.0","method":"GetTask"}', -32600, null],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"GetTask"}', -32600, 1],
    ["an unknown method", '{"jsonrpc":"2.0","id":"a","method":"Nope"}', -32601, "a"],
    ["a method of every object", '{"jsonrpc":"2.0","id":1,"method":"constructor"}', -32601, 1],
    ["no params", '{"jsonrpc":"2.0","id":1,"method":"GetTask"}', -32602, 1],
    [
      "params that are a list",
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}',
      -32602,
      1,
    ],
    [
      "an unknown task",
      '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"task_x"}}',
      -32001,
      1,
    ],
  ])(
    "A request with %s is refused with the code of the specification [CORE-ERR-001, CORE-GET-002, JSONRPC-ERR-001, JSONRPC-ERR-002, JSONRPC-ERR-003]",
    async (_, body, code, id) => {
      const served = await serveA2a([says("Hi")]);
      const { status, json } = await post(served, body);
      expect([status, json.id, json.error.code]).toEqual([200, id, code]);
      expect(json.error.data).toEqual([
        expect.objectContaining({
          "@type": "type.googleapis.com/google.rpc.ErrorInfo",
          domain: "a2a-protocol.org",
        }),
      ]);
    },
  );

  it.each([
    ["no role", { role: undefined }, "message.role"],
    ["the role of the agent", { role: "ROLE_AGENT" }, "message.role"],
    ["no id", { messageId: "" }, "message.messageId"],
    ["an id that is too long", { messageId: "x".repeat(201) }, "message.messageId"],
    ["no parts", { parts: [] }, "message.parts"],
    ["too many parts", { parts: Array.from({ length: 101 }, () => ({ text: "a" })) }, "101 parts"],
    ["an unknown part", { parts: [{ video: "x" }] }, "message.parts[0]"],
    ["an unknown context", { contextId: "ctx-1" }, "omit contextId"],
    ["a context that is no text", { contextId: 7 }, "message.contextId"],
  ])(
    "A message with %s is refused and starts no session [CORE-ERR-002]",
    async (_, fields, text) => {
      const served = await serveA2a([says("Hi")]);
      const { error } = await served.rpc("SendMessage", send("Hi", fields));
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(text) });
      expect((await served.sessions.list({ limit: 1 })).sessions).toEqual([]);
    },
  );

  it("A requested version determines the methods, and a missing version is accepted [VER-SERVER-001, VER-SERVER-002, VER-SERVER-003]", async () => {
    const served = await serveA2a([says("Hi")]);
    for (const version of ["0.2", "2.0", "1.1", "x"])
      expect((await served.rpc("ListTasks", {}, { "a2a-version": version })).error).toMatchObject({
        code: -32009,
      });
    for (const version of ["1.0", "1.0.1", ""])
      expect(await served.rpc("ListTasks", {}, { "a2a-version": version })).toHaveProperty(
        "result",
      );
    for (const [method, version, code] of [
      ["ListTasks", "0.3", -32601],
      ["tasks/get", "1.0", -32601],
      ["tasks/get", "0.3.0", -32001],
      ["tasks/get", "", -32001],
    ] as const)
      expect(
        (await served.rpc(method, { id: "task_x" }, { "a2a-version": version })).error.code,
        `${method} in version "${version}"`,
      ).toBe(code);
    const response = await served.fetch(`${served.url}/a2a/tasks`, {
      headers: { "a2a-version": "0.3" },
    });
    expect((await response.json()).error.details).toMatchObject([
      { reason: "VERSION_NOT_SUPPORTED" },
    ]);
  });

  it("Without push notifications, a config is refused with the way to follow the task, and a message with a config has no effect [CORE-CAP-001]", async () => {
    const served = await serveA2a([says("Hi")]);
    const { error } = await served.rpc("CreateTaskPushNotificationConfig", {});
    expect(error).toMatchObject({
      code: -32003,
      message: expect.stringContaining("Last-Event-ID"),
    });
    const configuration = { taskPushNotificationConfig: { url: "https://peer.example" } };
    expect((await served.rpc("SendMessage", { ...send("Hi"), configuration })).error).toMatchObject(
      { code: -32003 },
    );
    expect((await served.sessions.list({ limit: 1 })).sessions).toEqual([]);
  });
});

describe("Headers and bodies", () => {
  it("The version may be a parameter of the URL", async () => {
    const served = await serveA2a([says("Hi")]);
    const response = await fetch(`${served.url}/a2a/tasks?A2A-Version=0.3`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { details: [{ reason: "VERSION_NOT_SUPPORTED" }] },
    });
  });

  it("An activated extension is confirmed in the response", async () => {
    const served = await serveA2a([says("Hi")]);
    const uri = "urn:harn:a2a:task-stream:v1";
    const body = { jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} };
    const confirmed = await served.open(body, { "a2a-extensions": `urn:other, ${uri}` });
    expect(confirmed.headers.get("a2a-extensions")).toBe(uri);
    const legacy = await served.open(body, { "x-a2a-extensions": uri });
    expect(legacy.headers.get("x-a2a-extensions")).toBe(uri);
    expect((await served.open(body)).headers.get("a2a-extensions")).toBeNull();
  });

  it("A body of another type is a JSON-RPC error, and application/a2a+json is accepted", async () => {
    const served = await serveA2a([says("Hi")]);
    const text = { method: "POST", headers: { "content-type": "text/plain" }, body: "{}" };
    expect(await (await served.fetch(`${served.url}/a2a`, text)).json()).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32005 },
    });
    const headers = { "content-type": "application/a2a+json" };
    const body = JSON.stringify(send("Hi"));
    const sent = await served.fetch(`${served.url}/a2a/message:send`, {
      method: "POST",
      headers,
      body,
    });
    expect(await sent.json()).toMatchObject({
      task: { status: { state: "TASK_STATE_COMPLETED" } },
    });
  });

  it("An unknown method of HTTP has the same status in its body", async () => {
    const served = await serveA2a([says("Hi")]);
    const response = await fetch(`${served.url}/a2a`);
    expect([response.status, (await response.json()).error.code]).toEqual([405, 405]);
  });

  it("A content type other than JSON is refused with the error of the specification [JSONRPC-SSE-002]", async () => {
    const served = await serveA2a([says("Hi")]);
    const { status, json } = await post(served, "{}", { "content-type": "text/plain" });
    expect([status, json.id, json.error.code]).toEqual([200, null, -32005]);
  });
});

describe("Access", () => {
  it("A caller without a key is refused, and the public card needs none", async () => {
    const served = await serveA2a([says("Hi")], { keys: KEYS });
    const { status, json } = await post(
      served,
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} }),
    );
    expect([status, json.error.status]).toEqual([401, "UNAUTHENTICATED"]);
    expect((await fetch(`${served.url}/.well-known/agent-card.json`)).status).toBe(200);
  });

  it("The tasks and contexts of another caller do not exist [CORE-LIST-001]", async () => {
    const served = await serveA2a([says("Hi")], { keys: KEYS });
    const { id, contextId } = (await served.rpc("SendMessage", send("Hi"), asCaller(0))).result
      .task;
    for (const method of ["GetTask", "CancelTask", "SubscribeToTask"])
      expect((await served.rpc(method, { id }, asCaller(1))).error, method).toMatchObject({
        code: -32001,
      });
    expect(
      (await served.rpc("SendMessage", send("Me too", { taskId: id }), asCaller(1))).error,
    ).toMatchObject({ code: -32001 });
    expect(
      (await served.rpc("SendMessage", send("Me too", { contextId }), asCaller(1))).error,
    ).toMatchObject({ code: -32602 });
    expect((await served.rpc("ListTasks", {}, asCaller(1))).result.tasks).toEqual([]);
    expect((await served.rpc("ListTasks", { contextId }, asCaller(1))).result.tasks).toEqual([]);
  });

  it("Two callers with the same message id have two tasks", async () => {
    const served = await serveA2a([says("Hi")], { keys: KEYS });
    const request = send("Hi", { messageId: "m-1" });
    const ids = [];
    for (const at of [0, 1] as const)
      ids.push((await served.rpc("SendMessage", request, asCaller(at))).result.task.id);
    expect(new Set(ids).size).toBe(2);
  });

  it("A key without a usable agent starts no session", async () => {
    const keys = [
      { name: "nobody", key: "key-of-nobody-000001", rights: ["prompt"], agents: [] },
    ] as const;
    const served = await serveA2a([says("Hi")], { keys });
    expect((await served.rpc("SendMessage", send("Hi"))).error).toMatchObject({
      data: [{ reason: "PERMISSION_DENIED" }],
    });
    expect((await served.sessions.list({ limit: 1 })).sessions).toEqual([]);
  });

  it("A caller is limited to its rights and its agents", async () => {
    const served = await serveA2a([says("Hi")], { keys: KEYS });
    expect((await served.rpc("SendMessage", send("Hi"), asCaller(2))).error).toMatchObject({
      data: [{ reason: "PERMISSION_DENIED" }],
    });
    const asOther = { ...send("Hi"), metadata: { agent: "scripted" } };
    expect((await served.rpc("SendMessage", asOther, asCaller(1))).error).toMatchObject({
      code: -32602,
    });
    const { contextId } = (await served.rpc("SendMessage", send("Hi"), asCaller(1))).result.task;
    expect(await served.sessions.find(contextId)).toMatchObject({ agent: "other" });
  });
});

describe("The agent card", () => {
  it("The card names both bindings, the extensions and the agents as skills [CARD-DISC-001, CARD-PROTO-001, CARD-PROTO-002, CARD-STRUCT-001]", async () => {
    const served = await serveA2a([says("Hi")]);
    const card = await (await fetch(`${served.url}/.well-known/agent-card.json`)).json();
    const url = `${served.url}/a2a`;
    expect(card).toMatchObject({
      name: "Spanline",
      version: "1.2.3",
      supportedInterfaces: [
        { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
        { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" },
      ],
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
      securitySchemes: {},
      url,
      protocolVersion: "0.3.0",
    });
    expect(card.skills.map(({ id }: { id: string }) => id)).toEqual(["scripted", "other"]);
  });

  it("The card may be cached, and an unchanged card is not sent again [CARD-CACHE-001, CARD-CACHE-002]", async () => {
    const served = await serveA2a([says("Hi")]);
    const url = `${served.url}/.well-known/agent-card.json`;
    const { headers } = await fetch(url);
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    const etag = headers.get("etag") ?? "";
    const unchanged = await fetch(url, { headers: { "if-none-match": `W/"x", ${etag}` } });
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ""]);
    expect(unchanged.headers.has("content-length")).toBe(false);
    expect((await fetch(url, { headers: { "if-none-match": `"x"` } })).status).toBe(200);
  });

  it("With keys, the public card shows the first agent, and the extended card shows the caller's [CARD-EXT-001]", async () => {
    const settings = { name: "Helpdesk", description: "Answers" };
    const served = await serveA2a([says("Hi")], { keys: KEYS, settings });
    const card = await (await fetch(`${served.url}/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({
      ...settings,
      skills: [{ id: "scripted" }],
      securitySchemes: { bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
      securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    });
    const skillsOf = async (at: 0 | 1) =>
      (await served.rpc("GetExtendedAgentCard", {}, asCaller(at))).result.skills.map(
        ({ id }: { id: string }) => id,
      );
    expect(await skillsOf(0)).toEqual(["scripted", "other"]);
    expect(await skillsOf(1)).toEqual(["other"]);
    const configured = await serveA2a([says("Hi")], {
      keys: KEYS,
      settings: { agents: ["other"] },
    });
    const chosen = await (await fetch(`${configured.url}/.well-known/agent-card.json`)).json();
    expect(chosen.skills).toMatchObject([{ id: "other" }]);
  });
});

describe("The HTTP+JSON binding", () => {
  it.each([
    ["GET", "/a2a/tasks/task_x", 404, "TASK_NOT_FOUND"],
    ["GET", "/a2a/tasks/task_x:nope", 404, "METHOD_NOT_FOUND"],
    ["GET", "/a2a/tasks/task_x:constructor", 404, "METHOD_NOT_FOUND"],
    ["GET", "/a2a/tasks?pageSize=0", 400, "INVALID_PARAMS"],
    ["POST", "/a2a/tasks/task_x:cancel", 404, "TASK_NOT_FOUND"],
    ["POST", "/a2a/tasks/task_x/pushNotificationConfigs", 400, "PUSH_NOTIFICATION_NOT_SUPPORTED"],
    ["POST", "/a2a/message:send", 400, "INVALID_PARAMS"],
    ["GET", "/a2a/nope", 404, "METHOD_NOT_FOUND"],
    ["GET", "/a2a/message:send", 405, "METHOD_NOT_FOUND"],
  ])("%s %s is refused with %d and the reason %s", async (method, path, status, reason) => {
    const served = await serveA2a([says("Hi")]);
    const body =
      method === "POST" ? { headers: { "content-type": "application/json" }, body: "{}" } : {};
    const response = await fetch(`${served.url}${path}`, { method, ...body });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error: { code: status, message: expect.any(String), details: [{ reason }] },
    });
  });

  it("Both media types are accepted, and responses have the media type of A2A", async () => {
    const served = await serveA2a([says("Hi")]);
    const sendAs = (type: string, body = JSON.stringify(send("Hi"))) =>
      served.fetch(`${served.url}/a2a/message:send`, {
        method: "POST",
        headers: { "content-type": type },
        body,
      });
    for (const type of ["application/json; charset=utf-8", "Application/A2A+JSON"]) {
      const response = await sendAs(type);
      expect([response.status, response.headers.get("content-type")], type).toEqual([
        200,
        "application/a2a+json",
      ]);
    }
    for (const [type, body, reason] of [
      ["text/plain", "{}", "CONTENT_TYPE_NOT_SUPPORTED"],
      ["application/jsonp", "{}", "CONTENT_TYPE_NOT_SUPPORTED"],
      ["application/json", "{", "INVALID_JSON"],
    ] as const) {
      const response = await sendAs(type, body);
      expect([response.status, response.headers.get("content-type")], type).toEqual([
        400,
        "application/json; charset=utf-8",
      ]);
      expect((await response.json()).error).toMatchObject({ code: 400, details: [{ reason }] });
    }
  });
});
