import { randomUUID } from "node:crypto";
import type { Message, MessageSendParams, Task } from "a2a-sdk-v03";
import { ClientFactory, JsonRpcTransportFactory } from "a2a-sdk-v03/client";
import { expect, it } from "vitest";
import { hangs, says, wants } from "../support/session/scripted-provider.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { serveA2a, type ServeOptions } from "./support/serve-a2a.ts";

/** The official client of version 0.3. */
async function connect(...serving: Parameters<typeof serveA2a>) {
  const served = await serveA2a(...serving);
  const transports = [new JsonRpcTransportFactory({ fetchImpl: served.fetch })];
  return { served, client: await new ClientFactory({ transports }).createFromUrl(served.url) };
}

function send(text: string, place: Partial<Message> = {}): MessageSendParams {
  const message: Message = {
    kind: "message",
    messageId: randomUUID(),
    role: "user",
    parts: [{ kind: "text", text }],
    ...place,
  };
  return { message };
}

function textsOf(task: Task): string[] {
  return (task.artifacts ?? []).map(({ parts }) =>
    parts.map((part) => (part.kind === "text" ? part.text : "")).join(""),
  );
}

function asTask(result: Message | Task): Task {
  if (result.kind !== "task") throw new Error("The result is not a task");
  return result;
}

it("A client of version 0.3 sends a message and gets the completed task", async () => {
  const { client } = await connect([says("Hello there")]);
  const task = asTask(await client.sendMessage(send("Hi")));
  expect([task.status.state, textsOf(task)]).toEqual(["completed", ["Hello there"]]);
  expect(textsOf(await client.getTask({ id: task.id }))).toEqual(["Hello there"]);
});

it("A client of version 0.3 gets a stream whose last status is final", async () => {
  const { client } = await connect([says("one two three")]);
  const events = [];
  for await (const event of client.sendMessageStream(send("Count"))) events.push(event);
  expect(events[0]).toMatchObject({ kind: "task", status: { state: "submitted" } });
  const finals = events.flatMap((event) => (event.kind === "status-update" ? [event.final] : []));
  expect(finals).toEqual([false, true]);
  const text = events.flatMap((event) =>
    event.kind === "artifact-update" ? event.artifact.parts : [],
  );
  expect(text.map((part) => (part.kind === "text" ? part.text : "")).join("")).toBe(
    "one two three",
  );
});

it("A client of version 0.3 answers a request, subscribes again and cancels", async () => {
  const runs: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input: { type: "object" },
    run(input) {
      runs.push(input);
      return "paid";
    },
  });
  const agent: ServeOptions["agent"] = { tools: [pay], approvals: { ask: ["pay"] } };
  const { client } = await connect([wants({ id: "c1", name: "pay" }), hangs("Half")], { agent });
  const task = asTask(await client.sendMessage(send("Pay")));
  expect(task.status.state).toBe("input-required");
  const reply = send("allow", { taskId: task.id, contextId: task.contextId });
  const continued = await client.sendMessage({ ...reply, configuration: { blocking: false } });
  expect(asTask(continued).id).toBe(task.id);
  await waitUntil(async () => textsOf(await client.getTask({ id: task.id })).includes("Half"));
  const events = [];
  for await (const event of client.resubscribeTask({ id: task.id })) {
    events.push(event);
    if (events.length === 1) void client.cancelTask({ id: task.id });
  }
  expect(events[0]).toMatchObject({ kind: "task", status: { state: "working" } });
  expect(events.at(-1)).toMatchObject({
    kind: "status-update",
    status: { state: "canceled" },
    final: true,
  });
  expect(runs).toEqual([{}]);
});
