import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { preparePython, runPython, startSpanline, type Step } from "./run-python.ts";

const PACKAGES = ["a2a-sdk[http-server]==1.3.0"];
const KEY = "key-of-the-python-client";
const CONFIG = {
  agents: { demo: { provider: { type: "demo" } } },
  serve: { keys: [{ name: "python", key: { env: "A2A_KEY" }, rights: ["prompt", "approve"] }] },
};

const REPLY = { state: "COMPLETED", response: "That is 5." };

const expectSteps = (binding: string): readonly Step[] => [
  { step: "card", binding, name: "Spanline", skills: ["demo"], extended: ["demo"] },
  { step: "send", binding, ...REPLY },
  { step: "stream", binding, first: "task", last: "status_update", ...REPLY, isSame: true },
  { step: "approval", binding, state: "INPUT_REQUIRED", action: "save_note", input: "buy milk" },
  { step: "allowed", binding, state: "COMPLETED", isSaved: true },
  { step: "list", binding, pages: [1, 1], total: 2, tasks: "newest first", artifacts: 0 },
  { step: "subscribe", binding, first: "task", state: "INPUT_REQUIRED", end: "COMPLETED" },
  { step: "resume", binding, isGapless: true },
  { step: "push", binding, id: "mine", url: "https://peer.example/" },
  { step: "cancel", binding, state: "CANCELED" },
  {
    step: "errors",
    binding,
    get: "TaskNotFoundError",
    cancel: "TaskNotCancelableError",
    send: "UnsupportedOperationError",
    part: "ContentTypeNotSupportedError",
  },
];

const EXPECTED = ["JSONRPC", "HTTP+JSON"].flatMap(expectSteps);

const PROGRAM = `
import asyncio, json, sys

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.client.client import ClientCallContext
from a2a.helpers import get_artifact_text, get_data_parts, new_text_message, new_url_part
from a2a.types.a2a_pb2 import (
    CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest, Message, Role,
    DeleteTaskPushNotificationConfigRequest, SendMessageRequest, SubscribeToTaskRequest, TaskPushNotificationConfig, TaskState,
)

url, key = sys.argv[1:]
SEQUENCE = "urn:spanline:a2a:cursor:v1/sequence"
SUM, NOTE = "What is 2 + 3?", "Save a note: buy milk"


def message(text, task=None, context_id=None):
    place = {"task_id": task.id, "context_id": task.context_id} if task else {"context_id": context_id}
    return SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER, **place))


def state(status):
    return TaskState.Name(status.state).removeprefix("TASK_STATE_")


def facts(task):
    return {"state": state(task.status), "response": get_artifact_text(task.artifacts[-1])}


def sequence(event):
    return int(getattr(event, event.WhichOneof("payload")).metadata[SEQUENCE])


async def collect(stream):
    return [event async for event in stream]


async def fails(call):
    try:
        await call
    except Exception as error:
        return type(error).__name__


async def run(binding):
    def say(step, **shown):
        print(json.dumps({"step": step, "binding": binding, **shown}), flush=True)

    def create(**settings):
        http = httpx.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60)
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], **settings)
        return ClientFactory(config).create_from_url(url)

    # A client that streams, one that waits, and one that returns at once.
    client, waiting, polling = await create(), await create(streaming=False), await create(streaming=False, polling=True)

    async def send(sender, request):
        return (await collect(sender.send_message(request)))[-1].task

    card = client._card
    extended = await client.get_extended_agent_card(GetExtendedAgentCardRequest())
    say("card", name=card.name, skills=[skill.id for skill in card.skills], extended=[skill.id for skill in extended.skills])

    first = await send(waiting, message(SUM))
    say("send", **facts(first))

    events = await collect(client.send_message(message(SUM)))
    streamed = "".join(
        get_artifact_text(event.artifact_update.artifact) for event in events if event.HasField("artifact_update")
    )
    task = await client.get_task(GetTaskRequest(id=events[0].task.id))
    kinds = [event.WhichOneof("payload") for event in events]
    say("stream", first=kinds[0], last=kinds[-1], **facts(task), isSame=streamed == get_artifact_text(task.artifacts[0]))

    task = await send(waiting, message(NOTE))
    [request] = get_data_parts(task.status.message.parts)
    say("approval", state=state(task.status), action=request["action"], input=request["input"]["text"])
    task = await send(waiting, message("allow", task))
    isSaved = get_artifact_text(task.artifacts[-1]).startswith("Done. save_note says: Saved in")
    say("allowed", state=state(task.status), isSaved=isSaved)

    newest = await send(waiting, message(SUM, context_id=task.context_id))
    query = {"context_id": task.context_id, "page_size": 1}
    page = await client.list_tasks(ListTasksRequest(**query))
    rest = await client.list_tasks(ListTasksRequest(**query, page_token=page.next_page_token))
    listed = [*page.tasks, *rest.tasks]
    isNewestFirst = [item.id for item in listed] == [newest.id, task.id]
    say(
        "list", pages=[len(page.tasks), len(rest.tasks)], total=rest.total_size,
        tasks="newest first" if isNewestFirst else "another order", artifacts=sum(len(item.artifacts) for item in listed),
    )

    task = await send(waiting, message(NOTE))
    followed = client.subscribe(SubscribeToTaskRequest(id=task.id))
    events = [await anext(followed)]
    await send(polling, message("allow", task))
    events += await collect(followed)
    say(
        "subscribe", first=events[0].WhichOneof("payload"), state=state(events[0].task.status),
        end=state(events[-1].status_update.status),
    )
    cursor = ClientCallContext(service_parameters={"Last-Event-ID": str(sequence(events[0]))})
    resumed = await collect(client.subscribe(SubscribeToTaskRequest(id=task.id), context=cursor))
    say("resume", isGapless=[sequence(event) for event in resumed] == [sequence(event) for event in events[1:]])

    task = await send(waiting, message(NOTE))
    config = TaskPushNotificationConfig(task_id=task.id, id="mine", url="https://peer.example/")
    created = await client.create_task_push_notification_config(config)
    say("push", id=created.id, url=created.url)
    await client.delete_task_push_notification_config(
        DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="mine")
    )

    cancelled = await client.cancel_task(CancelTaskRequest(id=task.id))
    say("cancel", state=state(cancelled.status))

    file = Message(message_id="a-file", role=Role.ROLE_USER, parts=[new_url_part("https://peer.example/file")])
    say(
        "errors",
        get=await fails(client.get_task(GetTaskRequest(id="unknown"))),
        cancel=await fails(client.cancel_task(CancelTaskRequest(id=task.id))),
        send=await fails(send(client, message("Again", task))),
        part=await fails(send(client, SendMessageRequest(message=file))),
    )


async def main():
    for binding in ("JSONRPC", "HTTP+JSON"):
        try:
            await run(binding)
        except Exception as error:
            print(json.dumps({"step": "failure", "binding": binding, "error": f"{type(error).__name__}: {error}"[:600]}))


asyncio.run(main())
`;

/**
 * Runs the official A2A client for Python against a server with the demo agent, over each binding. Resolves to false if
 * the client returns another result.
 */
export async function runA2aClient(): Promise<boolean> {
  const python = preparePython("a2a", PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "spanline-a2a-"));
  const config = join(folder, "config.json");
  writeFileSync(config, JSON.stringify(CONFIG));
  const data = join(folder, "data");
  const server = await startSpanline(["serve", "-c", config, "-d", data], { A2A_KEY: KEY });
  try {
    const args = [server.output["url"] ?? "", KEY];
    return await runPython(python, PROGRAM, EXPECTED, { args });
  } finally {
    server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}
