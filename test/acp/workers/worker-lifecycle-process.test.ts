import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { createLineClient, readText, type AcpPeer } from "../../support/acp/acp-client.ts";
import { createAcpProject, type AcpProject } from "../../support/acp/acp-project.ts";
import { readUpdate } from "../../support/acp/steering-world.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { eventually } from "../../support/eventually.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../src/data/json.ts";
import {
  hangs,
  refuses,
  says,
  wants,
  type ModelServerRequest,
  type ScriptedResponse,
} from "../../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const HANDOFF = { task: "Review", reason: "Needs a person", target_persona_or_human: "ada" };

/** The response of a worker to its task. */
function respond({ messages }: ModelServerRequest): ScriptedResponse {
  const last = messages.at(-1);
  const text = JSON.stringify(last);
  if (text.includes("Fail")) return refuses(400);
  if (text.includes("Wait")) return hangs("Well");
  if (last?.role !== "tool" && text.includes("Hand over"))
    return wants({ id: "h", name: "emit_handoff", input: HANDOFF });
  return says("Done.");
}

async function createProject(): Promise<AcpProject> {
  const agent = { workers: { agents: ["helper"] }, approvals: { allow: ["*"] } };
  const here = await createAcpProject(command, agent, respond);
  const file = here.args[here.args.indexOf("--config") + 1] ?? "";
  const { coder } = JSON.parse(readFileSync(file, "utf8")).agents;
  const { workers: _, ...helper } = coder;
  const agents = { coder, helper: { ...helper, runtimeTools: true } };
  writeFileSync(file, JSON.stringify({ agents }));
  return here;
}

interface WorkerHost {
  readonly host: AcpPeer;
  readonly sessionId: JsonValue;
  /** Starts a worker. Returns the worker's id. */
  readonly delegate: (request: JsonObject) => Promise<string>;
  /** The updates about a worker, in the order of their arrival. */
  readonly listLife: (workerId: string) => readonly string[];
  readonly waitForStatus: (workerId: string, status: string) => Promise<void>;
}

async function openHost(here: AcpProject): Promise<WorkerHost> {
  const { project } = here;
  const child = here.spawn();
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const host = createLineClient(child.stdout, child.stdin);
  const clientCapabilities = { _meta: { harn: {} } };
  await host.requestResult("initialize", { protocolVersion: 1, clientCapabilities });
  const { sessionId = null } = await host.requestResult("session/new", {
    cwd: project,
    mcpServers: [],
  });
  const listLife = (workerId: string): readonly string[] =>
    listWorkerUpdates(host)
      .filter((update) => update["workerId"] === workerId)
      .map(formatUpdate);
  return {
    host,
    sessionId,
    listLife,
    async delegate(request) {
      const reply = await host.requestResult("session/delegate", { sessionId, ...request });
      return readText(reply["workerId"]);
    },
    waitForStatus: (workerId, status) =>
      eventually(() => expect(listLife(workerId).at(-1)).toContain(` ${status} `)),
  };
}

function listWorkerUpdates(host: AcpPeer): readonly JsonObject[] {
  return host.messages.map(readUpdate).flatMap((update) => {
    const meta = update["_meta"];
    if (update["sessionUpdate"] !== "worker_update" || !isObject(meta)) return [];
    return isObject(meta["harn"]) ? [meta["harn"]] : [];
  });
}

function formatUpdate({ event, status, terminal }: JsonObject): string {
  return `${readText(event)} ${readText(status)} ${terminal === true ? "terminal" : "open"}`;
}

it(
  "A bridge in its own process sends each of the seven lifecycle events as exactly one worker_update [B-038] [B-118] [B-119] [B-120] [B-121] [B-122] [B-123] [B-124] [B-125] [B-126] [B-127] [B-128] [B-129] [ACP-129]",
  { timeout: 60_000 },
  async () => {
    const here = await createProject();
    const { host, sessionId, delegate, listLife, waitForStatus } = await openHost(here);
    const once = await delegate({ task: "Count the files" });
    await waitForStatus(once, "completed");
    const failing = await delegate({ task: "Fail" });
    await waitForStatus(failing, "failed");
    const leaving = await delegate({ task: "Hand over", retriggerable: true });
    await waitForStatus(leaving, "stopped");
    const watching = await delegate({ task: "Watch", retriggerable: true });
    await waitForStatus(watching, "awaiting_input");
    const trigger = { sessionId, workerId: watching, payload: "Wait" };
    await host.requestResult("session/worker_trigger", trigger);
    await eventually(() => expect(here.hasModelReceived("Wait")).toBe(true));
    await host.requestResult("session/close_agent", { sessionId, workerId: watching });
    await waitForStatus(watching, "cancelled");
    for (const workerId of [once, failing, leaving, watching]) {
      await host.requestResult("session/close_agent", { sessionId, workerId });
      const late = host.requestResult("session/worker_trigger", { ...trigger, workerId });
      await expect(late).rejects.toThrow("not an open worker");
    }
    expect([once, failing, leaving, watching].map(listLife)).toEqual([
      ["WorkerSpawned running open", "WorkerCompleted completed terminal"],
      ["WorkerSpawned running open", "WorkerFailed failed terminal"],
      ["WorkerSpawned running open", "WorkerStopped stopped terminal"],
      [
        "WorkerSpawned running open",
        "WorkerWaitingForInput awaiting_input open",
        "WorkerProgressed progressed open",
        "WorkerSpawned running open",
        "WorkerCancelled cancelled terminal",
      ],
    ]);
    const place = ["--data-dir", here.data];
    const shown = await command.run(["sessions", "show", readText(sessionId), "--json", ...place]);
    const stored = shown.stdout.match(/"type":\s*"worker\.(?!closed)\w+"/g) ?? [];
    expect(listWorkerUpdates(host)).toHaveLength(stored.length);
    for (const update of listWorkerUpdates(host)) {
      const { workerId = null, metadata, audit }: { readonly [name: string]: unknown } = update;
      const id = String(workerId);
      const childId = id.replace("worker_", "ses_");
      expect(metadata).toMatchObject({
        started_at: expect.any(String),
        child_run_id: childId,
        child_run_path: `spanline://sessions/${childId}`,
        snapshot_path: `spanline://sessions/${readText(sessionId)}/workers/${id}`,
        audit: { run_id: childId, worker_id: id },
      });
      expect(metadata).toHaveProperty("audit", audit);
    }
  },
);
