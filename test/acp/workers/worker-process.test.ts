import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLineClient, readText, type AcpPeer } from "../../support/acp/acp-client.ts";
import { createAcpProject, type AcpProject } from "../../support/acp/acp-project.ts";
import { readUpdate } from "../../support/acp/steering-world.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { eventually } from "../../support/eventually.ts";
import { isObject, type JsonObject } from "../../../src/data/json.ts";
import { hangs, says, wants } from "../../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const TIMEOUT = { timeout: 60_000 };

/** The lead delegates to the helper, which answers unless the task is to wait. */
async function createProject(isWaiting: () => boolean): Promise<AcpProject> {
  const here = await createAcpProject(
    command,
    {
      workers: { agents: ["helper"] },
      approvals: { allow: ["*"] },
      onLost: "resend",
    },
    ({ messages }) => {
      const last = JSON.stringify(messages.at(-1));
      if (last.includes("Count the files"))
        return isWaiting() ? hangs("Well") : says("Four files.");
      if (messages.at(-1)?.role === "tool") return says("There are four.");
      return wants({ id: "d", name: "delegate", input: { task: "Count the files" } });
    },
  );
  const file = here.args[here.args.indexOf("--config") + 1] ?? "";
  const config = JSON.parse(readFileSync(file, "utf8"));
  const { coder } = config.agents;
  const { workers: _, ...helper } = coder;
  writeFileSync(file, JSON.stringify({ agents: { coder, helper } }));
  return here;
}

async function connect(child: ReturnType<AcpProject["spawn"]>): Promise<AcpPeer> {
  child.stdin.on("error", () => {});
  const host = createLineClient(child.stdout, child.stdin);
  const { agentCapabilities } = await host.requestResult("initialize", {
    protocolVersion: 1,
    clientCapabilities: { _meta: { harn: {} } },
  });
  expect(JSON.stringify(agentCapabilities)).toContain('"worker_update"');
  return host;
}

function listWorkerUpdates(host: AcpPeer): readonly JsonObject[] {
  return host.messages.map(readUpdate).flatMap((update) => {
    const meta = update["_meta"];
    if (update["sessionUpdate"] !== "worker_update" || !isObject(meta)) return [];
    return isObject(meta["harn"]) ? [meta["harn"]] : [];
  });
}

function listEvents(host: AcpPeer): readonly string[] {
  return listWorkerUpdates(host).map(
    ({ event, status }) => `${readText(event)} ${readText(status)}`,
  );
}

describe("Workers of a bridge in its own process", () => {
  it(
    "The process sends one update per transition of a worker, and the session of the worker can be loaded [B-020] [B-038] [B-118] [B-119] [B-122] [B-126] [ACP-129] [W-23]",
    TIMEOUT,
    async () => {
      const here = await createProject(() => false);
      const child = here.spawn();
      const host = await connect(child);
      const { sessionId } = await host.requestResult("session/new", {
        cwd: here.project,
        mcpServers: [],
      });
      const prompt = [{ type: "text", text: "How many?" }];
      await host.requestResult("session/prompt", { sessionId, prompt });
      await eventually(() =>
        expect(listEvents(host)).toEqual(["WorkerSpawned running", "WorkerCompleted completed"]),
      );
      const [spawned, completed] = listWorkerUpdates(host);
      expect(completed?.["audit"]).toEqual(spawned?.["audit"]);
      expect(Object.keys(spawned ?? {}).toSorted()).toEqual([
        "audit",
        "event",
        "metadata",
        "status",
        "terminal",
        "workerId",
        "workerMode",
        "workerName",
        "workerTask",
      ]);
      const metadata = spawned?.["metadata"];
      const childId = isObject(metadata) ? readText(metadata["child_run_id"]) : "";
      await host.requestResult("session/load", {
        sessionId: childId,
        cwd: here.project,
        mcpServers: [],
      });
      expect(JSON.stringify(host.listUpdates(childId))).toContain("Four files.");
      expect(JSON.stringify(host.listUpdates(readText(sessionId)))).not.toContain(
        'agent_message_chunk","content":{"type":"text","text":"Four files.',
      );
      const place = ["--data-dir", here.data];
      const paths = isObject(metadata)
        ? [metadata["child_run_path"], metadata["snapshot_path"]]
        : [];
      for (const path of paths) {
        const shown = await command.run(["sessions", "show", readText(path), ...place]);
        expect(shown.stdout).toContain("Four files.");
      }
      const audit = await command.run(["sessions", "audit", readText(sessionId), ...place]);
      expect(audit.status).toBe(0);
      const list = await command.run(["sessions", "list", ...place]);
      const tree = await command.run(["sessions", "list", "--workers", ...place]);
      expect([list.stdout.includes(childId), tree.stdout.includes(childId)]).toEqual([false, true]);
      child.kill("SIGKILL");
    },
  );

  it(
    "After SIGKILL during a worker's turn, the next process continues the same worker in the same session",
    TIMEOUT,
    async () => {
      let isWaiting = true;
      const here = await createProject(() => isWaiting);
      const first = here.spawn();
      const host = await connect(first);
      const { sessionId } = await host.requestResult("session/new", {
        cwd: here.project,
        mcpServers: [],
      });
      const prompt = [{ type: "text", text: "How many?" }];
      host.request("session/prompt", { sessionId, prompt }).catch(() => undefined);
      await eventually(() => expect(listEvents(host)).toEqual(["WorkerSpawned running"]));
      await eventually(() => expect(here.hasModelReceived("Count the files")).toBe(true));
      isWaiting = false;
      first.kill("SIGKILL");
      const second = here.spawn();
      const next = await connect(second);
      await next.requestResult("session/load", { sessionId, cwd: here.project, mcpServers: [] });
      await eventually(() =>
        expect(listEvents(next)).toEqual(["WorkerSpawned running", "WorkerCompleted completed"]),
      );
      const ids = new Set(
        [...listWorkerUpdates(host), ...listWorkerUpdates(next)].map(({ workerId }) => workerId),
      );
      expect(ids.size).toBe(1);
      second.kill("SIGKILL");
    },
  );
});
