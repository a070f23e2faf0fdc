import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  Role,
  TaskState,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from "@a2a-js/sdk";
import { says } from "../support/session/scripted-provider.ts";
import { serveA2a } from "./support/serve-a2a.ts";

function send(
  text: string,
  place: Partial<NonNullable<SendMessageRequest["message"]>> = {},
): SendMessageRequest {
  const part = {
    content: { $case: "text", value: text } as const,
    metadata: undefined,
    filename: "",
    mediaType: "",
  };
  return {
    tenant: "",
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: randomUUID(),
      contextId: "",
      taskId: "",
      role: Role.ROLE_USER,
      parts: [part],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...place,
    },
  };
}

function textsOf(task: Task): string[] {
  return task.artifacts.map(({ parts }) =>
    parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join(""),
  );
}

function asTask(result: unknown): Task {
  return result as Task;
}

describe.each(["JSONRPC", "HTTP+JSON"] as const)("The official client over %s", (binding) => {
  it("A message becomes a task which completes with the agent's text as an artifact [CORE-SEND-001, CORE-GET-001, CORE-MULTI-003]", async () => {
    const served = await serveA2a([says("Hello there")]);
    const client = await served.connect(binding);
    const task = asTask(await client.sendMessage(send("Hi")));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(textsOf(task)).toEqual(["Hello there"]);
    const got = await client.getTask({ tenant: "", id: task.id });
    expect(textsOf(got)).toEqual(["Hello there"]);
    expect(got.contextId).toBe(task.contextId);
    const listed = await client.listTasks({
      tenant: "",
      contextId: task.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: "",
      statusTimestampAfter: undefined,
    });
    expect(listed.tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  it("A stream has the task, its states and the pieces of its text [CORE-STREAM-001, CORE-STREAM-003]", async () => {
    const served = await serveA2a([says("one two three")]);
    const client = await served.connect(binding);
    const events: StreamResponse[] = [];
    for await (const event of client.sendMessageStream(send("Count"))) events.push(event);
    const cases = events.map(({ payload }) => payload?.$case);
    expect(cases[0]).toBe("task");
    expect(cases.at(-1)).toBe("statusUpdate");
    const text = events
      .flatMap(({ payload }) =>
        payload?.$case === "artifactUpdate" ? (payload.value.artifact?.parts ?? []) : [],
      )
      .map(({ content }) => (content?.$case === "text" ? content.value : ""))
      .join("");
    expect(text).toBe("one two three");
  });
});
