import { describe, expect, it } from "vitest";
import { SEQUENCE_KEY } from "../../src/wire/a2a/extensions.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { hangs, refuses, says, wants } from "../support/session/scripted-provider.ts";
import { createGate } from "../support/gate.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { readAllEvents, readEvents, type SentEvent } from "./support/read-events.ts";
import {
  createMessage,
  createTickingClock,
  serveA2a,
  type RpcReply,
  type ServedA2a,
} from "./support/serve-a2a.ts";

/** The state of a task in a result. */
const stateOf = (reply: { readonly result: { readonly task?: Task } & Task }): string =>
  (reply.result.task ?? reply.result).status.state;

interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string };
}

/** Sends a message which waits for the end of its task, and returns the task. */
async function send(served: ServedA2a, text: string, place: object = {}) {
  const { result } = await served.rpc("SendMessage", { message: createMessage(text, place) });
  return result.task;
}

/** Sends a message and returns the task as it begins. */
async function begin(served: ServedA2a, text: string, place: object = {}) {
  const configuration = { returnImmediately: true };
  const params = { message: createMessage(text, place), configuration };
  return (await served.rpc("SendMessage", params)).result.task;
}

async function waitForState(served: ServedA2a, id: string, state: string): Promise<void> {
  const replies: RpcReply[] = [];
  await waitUntil(
    async () => {
      const reply = await served.rpc("GetTask", { id });
      replies.push(reply);
      return stateOf(reply) === state;
    },
    () => replies,
  );
}

const texts = (task: {
  readonly artifacts: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}) => task.artifacts.map(({ parts }) => parts.map(({ text = "" }) => text).join(""));

/** A tool which needs an approval, and its runs. */
function gatedTool() {
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
  return { runs, agent: { tools: [pay], approvals: { ask: ["pay"] } } };
}

/** An allowed tool which runs until the gate opens. */
function waitingTool() {
  const gate = createGate();
  const tool = defineTool({
    name: "wait",
    description: "Waits",
    input: { type: "object" },
    async run() {
      await gate.pass();
      return "done";
    },
  });
  return { gate, agent: { tools: [tool], approvals: { allow: ["wait"] } } };
}

describe("Messages", () => {
  it("A message with a context continues its session as another task", async () => {
    const served = await serveA2a([says("One"), says("Two")]);
    const first = await send(served, "1");
    const second = await send(served, "2", { contextId: first.contextId });
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
    expect(texts(second)).toEqual(["Two"]);
    expect(second.history.map((message: { parts: unknown }) => message.parts)).toEqual([
      [{ text: "2" }],
    ]);
  });

  it("A message that is sent again has the same task and runs once, also concurrently", async () => {
    const served = await serveA2a([says("Once"), says("Twice")]);
    const place = { messageId: "message-1" };
    const tasks = await Promise.all([send(served, "Go", place), send(served, "Go", place)]);
    tasks.push(await send(served, "Go", place));
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(1);
    expect(tasks.map(texts)).toEqual([["Once"], ["Once"], ["Once"]]);
    const { contextId } = tasks[0];
    const inContext = { messageId: "message-2", contextId };
    const again = await Promise.all([send(served, "On", inContext), send(served, "On", inContext)]);
    expect(again.map(({ id }) => id)).toEqual([again[0].id, again[0].id]);
  });

  it("The id of a message is refused for another message", async () => {
    const served = await serveA2a([says("Once")]);
    const place = { messageId: "message-1" };
    await send(served, "Go", place);
    const reply = await served.rpc("SendMessage", { message: createMessage("Stop", place) });
    expect(reply.error).toMatchObject({ code: -32602, data: [{ reason: "INVALID_PARAMS" }] });
    expect(reply.error.message).toContain("messageId was used for another message");
  });

  it("A message to a working task enters the running turn [CORE-EXECUTION-MODE-002, CORE-MULTI-005, CORE-HIST-001, CORE-HIST-002, CORE-HIST-005]", async () => {
    const { gate, agent } = waitingTool();
    const served = await serveA2a([wants({ id: "c1", name: "wait" }), says("Both")], { agent });
    const task = await begin(served, "First");
    await waitForState(served, task.id, "TASK_STATE_WORKING");
    const place = { taskId: task.id, messageId: "steer-1" };
    const configuration = { returnImmediately: true };
    for (const round of [1, 2]) {
      const params = { message: createMessage("Second", place), configuration };
      expect((await served.rpc("SendMessage", params)).result.task.id, `round ${round}`).toBe(
        task.id,
      );
    }
    gate.open();
    await waitForState(served, task.id, "TASK_STATE_COMPLETED");
    const { result } = await served.rpc("GetTask", { id: task.id });
    expect(result.history.map((message: { parts: unknown }) => message.parts)).toEqual([
      [{ text: "First" }],
      [{ text: "Second" }],
    ]);
    expect(
      (await served.rpc("GetTask", { id: task.id, historyLength: 1 })).result.history,
    ).toHaveLength(1);
    const { result: trimmed } = await served.rpc("GetTask", { id: task.id, historyLength: 0 });
    expect(trimmed).not.toHaveProperty("history");
  });

  it("An id is refused for another message to the task, also after the task has ended", async () => {
    const { agent } = gatedTool();
    const served = await serveA2a([wants({ id: "c1", name: "pay" }), says("Paid")], { agent });
    const task = await send(served, "Pay", { messageId: "m-1" });
    const reuse = (text: string, messageId: string) =>
      served.rpc("SendMessage", { message: createMessage(text, { messageId, taskId: task.id }) });
    expect((await reuse("allow", "m-1")).error).toMatchObject({ code: -32602 });
    expect(stateOf(await reuse("allow", "m-2"))).toBe("TASK_STATE_COMPLETED");
    expect((await reuse("deny", "m-2")).error.message).toContain("used for another message");
    expect(stateOf(await reuse("allow", "m-2"))).toBe("TASK_STATE_COMPLETED");
  });

  it("A message that the running turn cannot take any more is refused, and starts no other task", async () => {
    const provider = { injectionPoints: ["turn-start"] } as const;
    const served = await serveA2a([hangs("Half")], { provider });
    const task = await begin(served, "Go");
    await waitForState(served, task.id, "TASK_STATE_WORKING");
    const reply = await served.rpc("SendMessage", {
      message: createMessage("More", { taskId: task.id }),
    });
    expect(reply.error).toMatchObject({ code: -32004 });
    expect(reply.error.message).toContain("takes no further messages");
    expect((await served.sessions.status(task.contextId)).pendingInjections).toEqual([]);
    await served.rpc("CancelTask", { id: task.id });
    expect((await served.rpc("ListTasks", {})).result.tasks).toHaveLength(1);
  });

  it("A message to a queued task is refused until the task works", async () => {
    const served = await serveA2a([hangs()]);
    const running = await begin(served, "Go");
    await waitForState(served, running.id, "TASK_STATE_WORKING");
    const queued = await begin(served, "Then", { contextId: running.contextId });
    const reply = await served.rpc("SendMessage", {
      message: createMessage("x", { taskId: queued.id }),
    });
    expect(reply.error.message).toContain("has not started");
  });

  it("A message to an ended task is refused with the way to continue [CORE-SEND-002]", async () => {
    const served = await serveA2a([says("Done")]);
    const task = await send(served, "Go");
    const reply = await served.rpc("SendMessage", {
      message: createMessage("More", { taskId: task.id }),
    });
    expect(reply.error).toMatchObject({
      code: -32004,
      data: [{ reason: "UNSUPPORTED_OPERATION" }],
    });
    expect(reply.error.message).toContain("without a taskId");
  });

  it("The agent of a new context is chosen by metadata.agent, and a context keeps its agent", async () => {
    const served = await serveA2a([says("Hi")]);
    const other = { message: createMessage("Hi"), metadata: { agent: "other" } };
    const { contextId } = (await served.rpc("SendMessage", other)).result.task;
    expect(await served.sessions.find(contextId)).toMatchObject({ agent: "other" });
    const moved = { message: createMessage("Hi", { contextId }), metadata: { agent: "scripted" } };
    expect((await served.rpc("SendMessage", moved)).error).toMatchObject({ code: -32602 });
    const unknown = { message: createMessage("Hi"), metadata: { agent: "othr" } };
    expect((await served.rpc("SendMessage", unknown)).error.message).toContain(
      'did you mean "other"?',
    );
  });

  it("Images, data and text files reach the agent, and a file by URL is refused", async () => {
    const served = await serveA2a([says("Seen")], { agent: { images: "describe" } });
    const parts = [
      { raw: "iVBORw0KGgo=", mediaType: "image/png" },
      { data: { rows: [1] }, mediaType: "application/json" },
      {
        raw: Buffer.from("notes").toString("base64"),
        mediaType: "text/plain",
        filename: "notes.txt",
      },
    ];
    const task = await send(served, "", { parts });
    const [prompt] = task.history;
    expect(prompt.parts.map(({ text }: { text: string }) => text)).toEqual([
      expect.stringContaining("image/png"),
      '{"rows":[1]}',
      "notes",
    ]);
    for (const part of [
      { url: "https://example.com/a.png" },
      { raw: "AAAA", mediaType: "video/mp4" },
    ]) {
      const reply = await served.rpc("SendMessage", {
        message: createMessage("", { parts: [part] }),
      });
      expect(reply.error).toMatchObject({
        code: -32005,
        data: [{ reason: "CONTENT_TYPE_NOT_SUPPORTED" }],
      });
    }
  });
});

describe("Requests to people", () => {
  it("A blocking send returns when the task needs input, and the reply lets the tool run once [W-22] [CORE-EXECUTION-MODE-001]", async () => {
    const { runs, agent } = gatedTool();
    const served = await serveA2a(
      [wants({ id: "c1", name: "pay", input: { amount: 5 } }), says("Paid")],
      { agent },
    );
    const task = await send(served, "Pay");
    expect(task.status).toMatchObject({ state: "TASK_STATE_INPUT_REQUIRED" });
    const [text, data] = task.status.message.parts;
    expect(text.text).toContain('Approval needed: pay {"amount":5}');
    expect(data.data).toMatchObject({
      action: "pay",
      options: expect.arrayContaining(["allow", "deny"]),
    });
    expect(runs).toEqual([]);
    const reply = { taskId: task.id, messageId: "decision-1" };
    const done = await send(served, "allow", reply);
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(texts(done)).toEqual(["Let me see.", "Paid"]);
    expect(runs).toEqual([{ amount: 5 }]);
    // The same decision again is a repeat, although the task has ended.
    expect((await send(served, "allow", reply)).status.state).toBe("TASK_STATE_COMPLETED");
    expect(runs).toHaveLength(1);
  });

  it("Of two open requests, each is decided by its id, and the task works after the second [W-22]", async () => {
    const { runs, agent } = gatedTool();
    const calls = [
      { id: "c1", name: "pay", input: { amount: 1 } },
      { id: "c2", name: "pay", input: { amount: 2 } },
    ];
    const served = await serveA2a([wants(...calls), says("Done")], { agent });
    const task = await send(served, "Pay both");
    await waitUntil(
      async () => (await served.sessions.status(task.contextId)).openApprovals.length === 2,
    );
    const { openApprovals } = await served.sessions.status(task.contextId);
    const [first, second] = openApprovals.map(({ request }) => request.approvalId);
    const ambiguous = await served.rpc("SendMessage", {
      message: createMessage("allow", { taskId: task.id }),
    });
    expect(ambiguous.error).toMatchObject({ code: -32602 });
    expect(ambiguous.error.message).toContain(`${first} or ${second}`);
    const decide = (data: object) => send(served, "", { taskId: task.id, parts: [{ data }] });
    const waiting = await decide({ approvalId: first, approved: false, reason: "Too much" });
    expect(waiting.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(waiting.status.message.messageId).toBe(second);
    const done = await decide({ approvalId: second, approved: true, input: { amount: 20 } });
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(runs).toEqual([{ amount: 20 }]);
  });

  it("A caller without the right to approve cannot decide", async () => {
    const { runs, agent } = gatedTool();
    const keys = [{ name: "peer", key: "key-of-the-peer-0001", rights: ["prompt"] }] as const;
    const served = await serveA2a([wants({ id: "c1", name: "pay" }), says("Paid")], {
      agent,
      keys,
    });
    const task = await send(served, "Pay");
    const reply = await served.rpc("SendMessage", {
      message: createMessage("allow", { taskId: task.id }),
    });
    expect(reply.error).toMatchObject({ data: [{ reason: "PERMISSION_DENIED" }] });
    expect(runs).toEqual([]);
  });

  it("A plain reply is refused if another person has resolved a request of the task meanwhile", async () => {
    const { runs, agent } = gatedTool();
    const calls = [
      { id: "c1", name: "pay", input: { amount: 1 } },
      { id: "c2", name: "pay", input: { amount: 2 } },
    ];
    const served = await serveA2a([wants(...calls), says("Done")], { agent });
    const task = await send(served, "Pay both");
    const isOpen = async () =>
      (await served.sessions.status(task.contextId)).openApprovals.length === 2;
    await waitUntil(isOpen);
    const [first, second] = (await served.sessions.status(task.contextId)).openApprovals.map(
      ({ request }) => request.approvalId,
    );
    const portal = { principal: { id: "portal", rights: ["approve"] } } as const;
    const decision = {
      type: "decide-approval",
      approvalId: first ?? "",
      decision: "deny",
    } as const;
    await served.sessions.command(task.contextId, decision, portal);
    const reply = await served.rpc("SendMessage", {
      message: createMessage("allow", { taskId: task.id }),
    });
    expect(reply.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining(second ?? "-"),
    });
    expect(runs).toEqual([]);
    const named = { parts: [{ data: { approvalId: second, decision: "allow" } }], taskId: task.id };
    expect((await send(served, "", named)).status.state).toBe("TASK_STATE_COMPLETED");
    expect(runs).toEqual([{ amount: 2 }]);
  });

  it("A caller with the right to approve, and no other, decides", async () => {
    const { runs, agent } = gatedTool();
    const keys = [
      { name: "ada", key: "key-of-ada-to-ask-01", rights: ["prompt"] },
      { name: "ada", key: "key-of-ada-to-decide", rights: ["approve"] },
    ] as const;
    const served = await serveA2a([wants({ id: "c1", name: "pay" }), says("Paid")], {
      agent,
      keys,
    });
    const task = await send(served, "Pay");
    const headers = { authorization: `Bearer ${keys[1].key}` };
    const message = createMessage("allow", { taskId: task.id });
    expect(stateOf(await served.rpc("SendMessage", { message }, headers))).toBe(
      "TASK_STATE_COMPLETED",
    );
    expect(runs).toHaveLength(1);
  });

  it("An unknown decision is refused and the request stays open", async () => {
    const { agent } = gatedTool();
    const served = await serveA2a([wants({ id: "c1", name: "pay" }), says("Paid")], { agent });
    const task = await send(served, "Pay");
    for (const message of [
      createMessage("perhaps", { taskId: task.id }),
      createMessage("", {
        taskId: task.id,
        parts: [{ data: { approvalId: "apr_of_others", approved: true } }],
      }),
    ])
      expect((await served.rpc("SendMessage", { message })).error).toMatchObject({ code: -32602 });
    expect((await served.rpc("GetTask", { id: task.id })).result.status.state).toBe(
      "TASK_STATE_INPUT_REQUIRED",
    );
  });

  it("A question of the agent is answered by text", async () => {
    const question = wants({ id: "q1", name: "ask_user", input: { question: "Which city?" } });
    const served = await serveA2a([question, says("Paris it is")], { agent: { askUser: true } });
    const task = await send(served, "Plan a trip");
    expect(task.status.message.parts[0].text).toBe("Which city?");
    const done = await send(served, "Paris", { taskId: task.id });
    expect(texts(done).at(-1)).toBe("Paris it is");
  });
});

describe("Streams", () => {
  const open = (served: ServedA2a, method: string, params: object, headers = {}) =>
    served.open({ jsonrpc: "2.0", id: 7, method, params }, headers);

  it("Every event has the position in the log as its id, and in its metadata", async () => {
    const served = await serveA2a([says("Hi")]);
    const events = await readAllEvents(
      await open(served, "SendStreamingMessage", { message: createMessage("Go") }),
    );
    expect(events.length).toBeGreaterThan(3);
    const sequences = events.map(({ data: { result } }) => {
      const [payload] = Object.values<{ readonly metadata: { readonly [key: string]: number } }>(
        result,
      );
      return String(payload?.metadata[SEQUENCE_KEY]);
    });
    expect(events.map(({ id }) => id)).toEqual(sequences);
    expect(events.map(({ data }) => data.id)).toEqual(events.map(() => 7));
  });

  it("A reader with a cursor gets exactly the events after it, while the task works and after its end [STREAM-ORDER-001]", async () => {
    const served = await serveA2a([says("Hello there")]);
    const all = await readAllEvents(
      await open(served, "SendStreamingMessage", { message: createMessage("Go") }),
    );
    const { id } = all[0]?.data.result.task ?? {};
    for (const [at, event] of all.entries()) {
      const headers = { "last-event-id": event.id ?? "" };
      const rest = await readAllEvents(await open(served, "SubscribeToTask", { id }, headers));
      expect(rest.map((sent) => sent.id)).toEqual(all.slice(at + 1).map((sent) => sent.id));
      expect(rest.map((sent) => sent.data.result)).toEqual(
        all.slice(at + 1).map((sent) => sent.data.result),
      );
    }
  });

  it("A subscriber without a cursor gets the task in its current state, then the rest [STREAM-SUB-001, STREAM-SUB-002]", async () => {
    const served = await serveA2a([hangs("Half")]);
    const task = await begin(served, "Go");
    await waitUntil(
      async () => texts((await served.rpc("GetTask", { id: task.id })).result).length === 1,
    );
    const response = await open(served, "SubscribeToTask", { id: task.id });
    const events: SentEvent[] = [];
    for await (const event of readEvents(response)) {
      events.push(event);
      if (events.length === 1) void served.rpc("CancelTask", { id: task.id });
    }
    expect(texts(events[0]?.data.result.task)).toEqual(["Half"]);
    expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_CANCELED");
  });

  it("A subscription to an ended task is refused unless the reader has a cursor [STREAM-SUB-003]", async () => {
    const served = await serveA2a([says("Done")]);
    const task = await send(served, "Go");
    expect((await served.rpc("SubscribeToTask", { id: task.id })).error).toMatchObject({
      code: -32004,
    });
    const invalid = await served.rpc(
      "SubscribeToTask",
      { id: task.id },
      { "last-event-id": "abc" },
    );
    expect(invalid.error).toMatchObject({ code: -32602 });
  });

  it("A cursor after the end of the log is refused, and a new task ignores the cursor of another stream", async () => {
    const served = await serveA2a([says("One"), says("Two")]);
    const task = await send(served, "Go");
    const headers = { "last-event-id": "99999" };
    expect((await served.rpc("SubscribeToTask", { id: task.id }, headers)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining("after the last event"),
    });
    const params = { message: createMessage("Again", { messageId: "m-2" }) };
    const events = await readAllEvents(await open(served, "SendStreamingMessage", params, headers));
    expect(events[0]?.data.result).toHaveProperty("task");
    // The same message again continues after the cursor.
    const cursor = { "last-event-id": events[1]?.id ?? "" };
    const rest = await readAllEvents(await open(served, "SendStreamingMessage", params, cursor));
    expect(rest.map(({ id }) => id)).toEqual(events.slice(2).map(({ id }) => id));
  });

  it("A repeated message to an ended task streams the task, although the session has continued", async () => {
    const { agent } = gatedTool();
    const served = await serveA2a([wants({ id: "c1", name: "pay" }), says("Paid"), says("More")], {
      agent,
    });
    const task = await send(served, "Pay");
    const params = { message: createMessage("allow", { messageId: "m-2", taskId: task.id }) };
    await served.rpc("SendMessage", params);
    await send(served, "Next", { contextId: task.contextId });
    const events = await readAllEvents(await open(served, "SendStreamingMessage", params));
    expect(events.map(({ data }) => data.result.task?.status.state)).toEqual([
      "TASK_STATE_COMPLETED",
    ]);
  });

  it("A reader that disconnects does not stop the task", async () => {
    const { gate, agent } = waitingTool();
    const served = await serveA2a([wants({ id: "c1", name: "wait" }), says("Finished")], { agent });
    const leaving = new AbortController();
    const body = {
      jsonrpc: "2.0",
      id: 1,
      method: "SendStreamingMessage",
      params: { message: createMessage("Go") },
    };
    const response = await served.open(body, {}, leaving.signal);
    const first = await readEvents(response).next();
    leaving.abort();
    gate.open();
    const { id } = first.value?.data.result.task ?? {};
    await waitForState(served, id, "TASK_STATE_COMPLETED");
    expect(texts((await served.rpc("GetTask", { id })).result)).toEqual([
      "Let me see.",
      "Finished",
    ]);
  });
});

describe("Tasks", () => {
  it("A cancelled task is canceled at once, and an ended task cannot be canceled [CORE-CANCEL-001, CORE-CANCEL-002]", async () => {
    const served = await serveA2a([hangs()]);
    const task = await begin(served, "Go");
    await waitForState(served, task.id, "TASK_STATE_WORKING");
    expect(stateOf(await served.rpc("CancelTask", { id: task.id }))).toBe("TASK_STATE_CANCELED");
    expect((await served.rpc("CancelTask", { id: task.id })).error).toMatchObject({ code: -32002 });
  });

  it("A queued task is canceled by withdrawing its prompt, and the running task continues", async () => {
    const served = await serveA2a([hangs()]);
    const running = await begin(served, "Go");
    await waitForState(served, running.id, "TASK_STATE_WORKING");
    const queued = await begin(served, "Then", { contextId: running.contextId });
    expect(queued.status.state).toBe("TASK_STATE_SUBMITTED");
    expect(stateOf(await served.rpc("CancelTask", { id: queued.id }))).toBe("TASK_STATE_CANCELED");
    expect(stateOf(await served.rpc("GetTask", { id: running.id }))).toBe("TASK_STATE_WORKING");
  });

  it("A task which the provider rejects is rejected with the reason", async () => {
    const served = await serveA2a([refuses("validation_failed")]);
    const task = await send(served, "Go");
    expect(task.status).toMatchObject({
      state: "TASK_STATE_REJECTED",
      message: { parts: [{ text: "Refused with validation_failed" }] },
    });
  });

  it("Tasks are listed with the newest first, in pages, by context and by state [CORE-LIST-002, CORE-LIST-004, CORE-LIST-005]", async () => {
    const clock = createTickingClock();
    const served = await serveA2a([says("a"), says("b"), says("c"), says("d")], { clock });
    const first = await send(served, "1");
    const ids = [first.id];
    for (const text of ["2", "3"])
      ids.unshift((await send(served, text, { contextId: first.contextId })).id);
    const other = await send(served, "4");
    ids.unshift(other.id);
    const list = async (params: object) => (await served.rpc("ListTasks", params)).result;
    const all = await list({});
    expect(all.tasks.map(({ id }: Task) => id)).toEqual(ids);
    expect(all).toMatchObject({ nextPageToken: "", pageSize: 50, totalSize: 4 });
    expect(all.tasks[0]).not.toHaveProperty("artifacts");
    const listed: string[] = [];
    for (let pageToken = ""; ;) {
      const page = await list({ pageSize: 1, pageToken, includeArtifacts: true });
      expect(page.tasks.length).toBeLessThanOrEqual(1);
      for (const task of page.tasks) {
        listed.push(task.id);
        expect(texts(task)).toHaveLength(1);
      }
      pageToken = page.nextPageToken;
      if (pageToken === "") break;
    }
    expect(listed).toEqual(ids);
    expect((await list({ contextId: first.contextId })).tasks).toHaveLength(3);
    const { timestamp } = all.tasks[0].status;
    const since = await list({ statusTimestampAfter: timestamp });
    expect(since.tasks.map(({ id }: Task) => id)).toContain(other.id);
    const later = new Date(Date.parse(timestamp) + 1).toISOString();
    expect((await list({ statusTimestampAfter: later })).tasks).toEqual([]);
    expect(
      (await list({ pageToken: null, status: null, statusTimestampAfter: null })).tasks,
    ).toHaveLength(4);
    expect((await list({ status: "TASK_STATE_WORKING" })).tasks).toEqual([]);
    expect((await list({ status: "TASK_STATE_COMPLETED" })).tasks).toHaveLength(4);
    for (const params of [
      { pageSize: 0 },
      { pageSize: 101 },
      { pageToken: "x" },
      { status: "done" },
    ])
      expect((await served.rpc("ListTasks", params)).error, JSON.stringify(params)).toMatchObject({
        code: -32602,
      });
  });

  it("Tasks of several contexts are listed by the time of their status, also across pages [CORE-LIST-003]", async () => {
    const answers = [says("a"), says("b"), says("c"), hangs(), says("e")];
    const served = await serveA2a(answers, { clock: createTickingClock() });
    const first = await send(served, "1");
    const second = await send(served, "2");
    const third = await send(served, "3", { contextId: first.contextId });
    const running = await begin(served, "4", { contextId: second.contextId });
    await waitForState(served, running.id, "TASK_STATE_WORKING");
    const queued = await begin(served, "5", { contextId: second.contextId });
    const ids = [queued.id, running.id, third.id, second.id, first.id];
    const listAll = async () => {
      const listed: string[] = [];
      for (let pageToken = ""; ;) {
        const { result } = await served.rpc("ListTasks", { pageSize: 2, pageToken });
        listed.push(...result.tasks.map(({ id }: Task) => id));
        expect(result.totalSize).toBe(listed.length);
        pageToken = result.nextPageToken;
        if (pageToken === "") return listed;
      }
    };
    expect(await listAll()).toEqual(ids);
    // The older task of the context ends after the newer one began to wait.
    await served.rpc("CancelTask", { id: running.id });
    await waitForState(served, queued.id, "TASK_STATE_COMPLETED");
    const { timestamp } = (await served.rpc("GetTask", { id: third.id })).result.status;
    const notOlder = await served.rpc("ListTasks", { statusTimestampAfter: timestamp });
    expect(notOlder.result.tasks.map(({ id }: Task) => id).slice(0, 3)).toEqual([
      queued.id,
      running.id,
      third.id,
    ]);
  });
});
