import { describe, expect, it } from "vitest";
import { createGate } from "../support/gate.ts";
import { says, type ProviderScript } from "../support/session/scripted-provider.ts";
import { readAllEvents, readEvents } from "./support/read-events.ts";
import { createMessage, serveA2a, type RpcReply, type ServedA2a } from "./support/serve-a2a.ts";

const BINDINGS = ["JSON-RPC", "HTTP+JSON"] as const;
type Binding = (typeof BINDINGS)[number];

const V1 = { "content-type": "application/json", "a2a-version": "1.0" };

/** Sends a message with extra fields, and returns the task or the error of either binding. */
async function send(
  served: ServedA2a,
  binding: Binding,
  { fields = {}, configuration = {} } = {},
): Promise<RpcReply> {
  const params = { message: createMessage("Hi", fields), configuration, unknown: 1 };
  if (binding === "JSON-RPC") {
    const { result, error } = await served.rpc("SendMessage", params, V1);
    return error ?? result.task;
  }
  const url = `${served.url}/a2a/message:send`;
  const response = await served.fetch(url, {
    method: "POST",
    headers: V1,
    body: JSON.stringify(params),
  });
  const { error, task } = await response.json();
  return error ?? task;
}

/** Calls an operation about a task, and returns the task or the error. */
async function call(
  served: ServedA2a,
  binding: Binding,
  [method, path]: readonly [string, string],
): Promise<RpcReply> {
  if (binding === "JSON-RPC") {
    const { result, error } = await served.rpc(method, { id: "unknown" }, V1);
    return error ?? result;
  }
  const init = path === "" ? {} : { method: "POST", body: "{}" };
  const response = await served.fetch(`${served.url}/a2a/tasks/unknown${path}`, {
    headers: V1,
    ...init,
  });
  const body = await response.json();
  return body.error ?? body;
}

const reasonOf = ({ data, details }: RpcReply): string => (data ?? details)?.[0].reason;

describe.each(BINDINGS)("The binding %s", (binding) => {
  it("Operations about an unknown task do not find the task [CORE-GET-002, CORE-CANCEL-003, STREAM-SUB-004, CORE-MULTI-004]", async () => {
    const served = await serveA2a([says("Hi")]);
    for (const operation of [
      ["GetTask", ""],
      ["CancelTask", ":cancel"],
      ["SubscribeToTask", ":subscribe"],
    ] as const)
      expect(reasonOf(await call(served, binding, operation)), operation[0]).toBe("TASK_NOT_FOUND");
    expect(reasonOf(await send(served, binding, { fields: { taskId: "unknown" } }))).toBe(
      "TASK_NOT_FOUND",
    );
  });

  it("A task with another context is refused, and so is a media type which no agent reads [CORE-MULTI-006, CORE-SEND-003]", async () => {
    const served = await serveA2a([says("Hi")]);
    const { id } = await send(served, binding);
    const elsewhere = { taskId: id, contextId: "elsewhere" };
    expect(reasonOf(await send(served, binding, { fields: elsewhere }))).toBe("INVALID_PARAMS");
    const parts = [{ raw: "AAAA", mediaType: "application/x-unknown" }];
    expect(reasonOf(await send(served, binding, { fields: { parts } }))).toBe(
      "CONTENT_TYPE_NOT_SUPPORTED",
    );
  });

  it("Names are in camel case, states are names and times are UTC, and unknown fields are ignored [DM-SERIAL-001, DM-SERIAL-002, DM-SERIAL-003, DM-SERIAL-005]", async () => {
    const served = await serveA2a([says("Hi")]);
    const task = await send(served, binding, { fields: { unknown: 1 } });
    expect(task.status).toEqual({
      state: "TASK_STATE_COMPLETED",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(task.history).toMatchObject([{ role: "ROLE_USER", messageId: expect.any(String) }]);
    const names = [...JSON.stringify(task).matchAll(/"([^"]+)":/g)].map(([, name]) => name);
    expect(names.filter((name) => /^[a-z]+(?:_[a-z]+)+$/.test(name ?? ""))).toEqual([]);
  });

  it("A message with historyLength 0 returns a task without history [CORE-HIST-003]", async () => {
    const served = await serveA2a([says("Hi")]);
    const task = await send(served, binding, { configuration: { historyLength: 0 } });
    expect(task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(task).not.toHaveProperty("history");
  });
});

it("All readers of a task get the same events in the same order, also after one of them left [STREAM-ORDER-002, STREAM-ORDER-003, STREAM-ORDER-004]", async () => {
  const gate = createGate();
  const waits: ProviderScript = async function* (signal, invocation) {
    await gate.pass();
    yield* says("one two three")(signal, invocation);
  };
  const served = await serveA2a([waits]);
  const open = (method: string, params: object, signal?: AbortSignal) =>
    served.open({ jsonrpc: "2.0", id: 1, method, params }, V1, signal);
  const { id } = await send(served, "JSON-RPC", { configuration: { returnImmediately: true } });
  await gate.entry;
  const leaving = new AbortController();
  const left = readEvents(await open("SubscribeToTask", { id }, leaving.signal));
  await left.next();
  const readers = [await open("SubscribeToTask", { id }), await open("SubscribeToTask", { id })];
  leaving.abort();
  gate.open();
  const [first = [], second = []] = await Promise.all(readers.map(readAllEvents));
  expect(first.some(({ data }) => "artifactUpdate" in data.result)).toBe(true);
  expect(second).toEqual(first);
  expect(first.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
});
