import { createMessage } from "./serve-a2a.ts";

/** A task that exists on a server before a request. Its fields are empty if the request needs none. */
export interface Prepared {
  readonly id: string;
  readonly contextId: string;
}

/** The state of the task: completed, or in need of input. */
export type Preparation = "completed" | "open";

export interface ComparedRequest {
  readonly title: string;
  readonly needs?: Preparation;
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: (task: Prepared) => string;
  readonly headers: { readonly [name: string]: string };
  /** Text is sent unchanged. */
  readonly body?: (task: Prepared) => unknown;
}

const JSON_TYPE = { "content-type": "application/json" };
const V1 = { ...JSON_TYPE, "a2a-version": "1.0" };

type Params = (task: Prepared) => unknown;
type Headers = ComparedRequest["headers"];

function rpc(
  title: string,
  method: string,
  params: Params | object = {},
  options: { readonly needs?: Preparation; readonly headers?: Headers } = {},
): ComparedRequest {
  const { needs, headers = V1 } = options;
  const create = typeof params === "function" ? (params as Params) : () => params;
  return {
    title: `${method}: ${title}`,
    method: "POST",
    path: () => "/a2a",
    headers,
    body: (task) => ({ jsonrpc: "2.0", id: 1, method, params: create(task) }),
    ...(needs !== undefined && { needs }),
  };
}

function raw(title: string, body: string, headers: Headers = V1): ComparedRequest {
  return {
    title: `JSON-RPC: ${title}`,
    method: "POST",
    path: () => "/a2a",
    headers,
    body: () => body,
  };
}

function http(
  title: string,
  [method, path]: readonly [ComparedRequest["method"], string],
  options: {
    readonly needs?: Preparation;
    readonly headers?: Headers;
    readonly body?: unknown;
  } = {},
): ComparedRequest {
  const { needs, body, headers = V1 } = options;
  const create = typeof body === "function" ? (body as Params) : () => body;
  return {
    title: `${method} ${path}: ${title}`,
    method,
    path: ({ id, contextId }) => path.replace("{id}", id).replace("{context}", contextId),
    headers,
    ...(body !== undefined && { body: create }),
    ...(needs !== undefined && { needs }),
  };
}

const send = (fields: object = {}, text = "Hello") => ({ message: createMessage(text, fields) });
const into = (text: string) => (task: Prepared) => send({ taskId: task.id }, text);
const about = ({ id }: Prepared) => ({ id });

export const REQUESTS: readonly ComparedRequest[] = [
  raw("not JSON", "{"),
  raw("an empty object", "{}"),
  raw("an empty list", "[]"),
  raw("a string", '"text"'),
  raw("a method that is not text", '{"jsonrpc":"2.0","id":1,"method":2}'),
  raw("a notification", '{"jsonrpc":"2.0","method":"GetTask","params":{"id":"x"}}'),
  raw("version 1.0 of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"GetTask","params":{}}'),
  raw("an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"GetTask","params":{}}'),
  raw("no params", '{"jsonrpc":"2.0","id":1,"method":"GetTask"}'),
  raw("params that are a list", '{"jsonrpc":"2.0","id":1,"method":"GetTask","params":[]}'),
  raw("a string id", '{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":"x"}}'),
  raw("content type text/plain", '{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}', {
    ...V1,
    "content-type": "text/plain",
  }),
  rpc("an unknown method", "Nope"),
  rpc("a method of every object", "constructor"),
  rpc("version 99.0", "ListTasks", {}, { headers: { ...JSON_TYPE, "a2a-version": "99.0" } }),
  rpc("version 1.0.1", "ListTasks", {}, { headers: { ...JSON_TYPE, "a2a-version": "1.0.1" } }),
  rpc("no version", "ListTasks", {}, { headers: JSON_TYPE }),
  rpc(
    "version 0.3 with a method of 1.0",
    "ListTasks",
    {},
    { headers: { ...JSON_TYPE, "a2a-version": "0.3" } },
  ),
  rpc("no version", "tasks/get", { id: "x" }, { headers: JSON_TYPE }),
  rpc("version 1.0 with a method of 0.3", "tasks/get", { id: "x" }),

  rpc("a text", "SendMessage", send()),
  rpc("a task that needs input", "SendMessage", send({}, "pay")),
  rpc("historyLength 0", "SendMessage", { ...send(), configuration: { historyLength: 0 } }),
  rpc("unknown fields", "SendMessage", { ...send({ extra: 1 }), extra: 2 }),
  rpc("no message", "SendMessage"),
  rpc("no role", "SendMessage", send({ role: undefined })),
  rpc("the role of the agent", "SendMessage", send({ role: "ROLE_AGENT" })),
  rpc("an unknown role", "SendMessage", send({ role: "ROLE_X" })),
  rpc("no messageId", "SendMessage", send({ messageId: undefined })),
  rpc("a messageId that is a number", "SendMessage", send({ messageId: 5 })),
  rpc("no parts", "SendMessage", send({ parts: undefined })),
  rpc("an empty list of parts", "SendMessage", send({ parts: [] })),
  rpc("parts that are text", "SendMessage", send({ parts: "Hello" })),
  rpc("an empty part", "SendMessage", send({ parts: [{}] })),
  rpc("a part that is a number", "SendMessage", send({ parts: [{ text: 5 }] })),
  rpc("a data part", "SendMessage", send({ parts: [{ data: { a: 1 } }] })),
  rpc(
    "a part with a media type that is not on the card",
    "SendMessage",
    send({ parts: [{ raw: "dGNr", mediaType: "application/x-unknown" }] }),
  ),
  rpc("a context of the client", "SendMessage", send({ contextId: "client-context" })),
  rpc("an unknown task", "SendMessage", send({ taskId: "unknown" })),
  rpc("a completed task", "SendMessage", into("Again"), { needs: "completed" }),
  rpc("a reply to a task that needs input", "SendMessage", into("allow"), { needs: "open" }),
  rpc(
    "a task with another context",
    "SendMessage",
    (task: Prepared) => send({ taskId: task.id, contextId: "other" }),
    { needs: "open" },
  ),
  rpc(
    "a further message in a context",
    "SendMessage",
    ({ contextId }: Prepared) => send({ contextId }),
    { needs: "completed" },
  ),

  rpc("a text", "SendStreamingMessage", send()),
  rpc("no message", "SendStreamingMessage"),
  rpc("an unknown task", "SendStreamingMessage", send({ taskId: "unknown" })),

  rpc("a completed task", "GetTask", about, { needs: "completed" }),
  rpc("historyLength 0", "GetTask", ({ id }: Prepared) => ({ id, historyLength: 0 }), {
    needs: "completed",
  }),
  rpc("historyLength -1", "GetTask", ({ id }: Prepared) => ({ id, historyLength: -1 }), {
    needs: "completed",
  }),
  rpc("historyLength as text", "GetTask", ({ id }: Prepared) => ({ id, historyLength: "many" }), {
    needs: "completed",
  }),
  rpc("no id", "GetTask"),
  rpc("an id that is a number", "GetTask", { id: 5 }),
  rpc("an unknown id", "GetTask", { id: "unknown" }),

  rpc("all", "ListTasks", {}, { needs: "completed" }),
  rpc("no task", "ListTasks"),
  rpc("of a context", "ListTasks", ({ contextId }: Prepared) => ({ contextId }), {
    needs: "completed",
  }),
  rpc("with artifacts", "ListTasks", { includeArtifacts: true }, { needs: "completed" }),
  rpc("of an unknown context", "ListTasks", { contextId: "unknown" }),
  rpc("pageSize 1", "ListTasks", { pageSize: 1 }, { needs: "completed" }),
  rpc("pageSize 0", "ListTasks", { pageSize: 0 }),
  rpc("pageSize -1", "ListTasks", { pageSize: -1 }),
  rpc("pageSize 101", "ListTasks", { pageSize: 101 }),
  rpc("pageSize as text", "ListTasks", { pageSize: "many" }),
  rpc("an invalid pageToken", "ListTasks", { pageToken: "x" }),
  rpc("historyLength -1", "ListTasks", { historyLength: -1 }),
  rpc("a state", "ListTasks", { status: "TASK_STATE_COMPLETED" }, { needs: "completed" }),
  rpc("another state", "ListTasks", { status: "TASK_STATE_WORKING" }, { needs: "completed" }),
  rpc("an unknown state", "ListTasks", { status: "TASK_STATE_X" }),
  rpc("an invalid time", "ListTasks", { statusTimestampAfter: "yesterday" }),

  rpc("an open task", "CancelTask", about, { needs: "open" }),
  rpc("a completed task", "CancelTask", about, { needs: "completed" }),
  rpc("an unknown id", "CancelTask", { id: "unknown" }),
  rpc("no id", "CancelTask"),

  rpc("an open task", "SubscribeToTask", about, { needs: "open" }),
  rpc("a completed task", "SubscribeToTask", about, { needs: "completed" }),
  rpc("an unknown id", "SubscribeToTask", { id: "unknown" }),
  rpc("no id", "SubscribeToTask"),

  rpc("the card", "GetExtendedAgentCard"),
  rpc("a push configuration", "CreateTaskPushNotificationConfig", {
    taskId: "x",
    url: "https://peer.example",
  }),
  rpc("a push configuration", "GetTaskPushNotificationConfig", { taskId: "x", id: "y" }),
  rpc("push configurations", "ListTaskPushNotificationConfigs", { taskId: "x" }),
  rpc("a push configuration", "DeleteTaskPushNotificationConfig", { taskId: "x", id: "y" }),
  rpc("a send with a push configuration", "SendMessage", {
    ...send(),
    configuration: { taskPushNotificationConfig: { url: "https://peer.example" } },
  }),

  rpc(
    "a text, version 0.3",
    "message/send",
    {
      message: {
        kind: "message",
        messageId: "m",
        role: "user",
        parts: [{ kind: "text", text: "Hello" }],
      },
    },
    { headers: JSON_TYPE },
  ),
  rpc("no message, version 0.3", "message/send", {}, { headers: JSON_TYPE }),
  rpc("an unknown id, version 0.3", "tasks/cancel", { id: "unknown" }, { headers: JSON_TYPE }),

  http("the card", ["GET", "/.well-known/agent-card.json"]),
  http("a text", ["POST", "/a2a/message:send"], { body: send() }),
  http("application/a2a+json", ["POST", "/a2a/message:send"], {
    body: send(),
    headers: { ...V1, "content-type": "application/a2a+json" },
  }),
  http("text/plain", ["POST", "/a2a/message:send"], {
    body: send(),
    headers: { ...V1, "content-type": "text/plain" },
  }),
  http("not JSON", ["POST", "/a2a/message:send"], { body: "{" }),
  http("an empty object", ["POST", "/a2a/message:send"], { body: {} }),
  http("version 99.0", ["POST", "/a2a/message:send"], {
    body: send(),
    headers: { ...JSON_TYPE, "a2a-version": "99.0" },
  }),
  http("no version", ["GET", "/a2a/tasks"], { headers: {} }),
  http("version 0.3", ["GET", "/a2a/tasks"], { headers: { "a2a-version": "0.3" } }),
  http("a text", ["POST", "/a2a/message:stream"], { body: send() }),
  http("an empty object", ["POST", "/a2a/message:stream"], { body: {} }),
  http("a completed task", ["GET", "/a2a/tasks/{id}"], { needs: "completed" }),
  http("historyLength", ["GET", "/a2a/tasks/{id}?historyLength=0"], { needs: "completed" }),
  http("historyLength as text", ["GET", "/a2a/tasks/{id}?historyLength=many"], {
    needs: "completed",
  }),
  http("an unknown task", ["GET", "/a2a/tasks/unknown"]),
  http("all", ["GET", "/a2a/tasks"], { needs: "completed" }),
  http("a page", ["GET", "/a2a/tasks?pageSize=1&contextId={context}&includeArtifacts=true"], {
    needs: "completed",
  }),
  http("pageSize 0", ["GET", "/a2a/tasks?pageSize=0"]),
  http("an unknown state", ["GET", "/a2a/tasks?status=X"]),
  http("an open task", ["POST", "/a2a/tasks/{id}:cancel"], { needs: "open", body: {} }),
  http("an open task, without a body", ["POST", "/a2a/tasks/{id}:cancel"], {
    needs: "open",
    headers: { "a2a-version": "1.0" },
  }),
  http("a completed task", ["POST", "/a2a/tasks/{id}:cancel"], { needs: "completed", body: {} }),
  http("an unknown task", ["POST", "/a2a/tasks/unknown:cancel"], { body: {} }),
  http("an open task", ["GET", "/a2a/tasks/{id}:subscribe"], { needs: "open" }),
  http("an open task", ["POST", "/a2a/tasks/{id}:subscribe"], { needs: "open", body: {} }),
  http("a completed task", ["GET", "/a2a/tasks/{id}:subscribe"], { needs: "completed" }),
  http("the card", ["GET", "/a2a/extendedAgentCard"]),
  http("a push configuration", ["POST", "/a2a/tasks/x/pushNotificationConfigs"], {
    body: { url: "https://peer.example" },
  }),
  http("push configurations", ["GET", "/a2a/tasks/x/pushNotificationConfigs"]),
  http("a push configuration", ["DELETE", "/a2a/tasks/x/pushNotificationConfigs/y"]),
  http("an unknown path", ["GET", "/a2a/nope"]),
  http("another HTTP method", ["GET", "/a2a/message:send"]),
];
