import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { createLineClient, readText, type AcpPeer } from "../../support/acp/acp-client.ts";
import { createAcpProject, type AcpProject } from "../../support/acp/acp-project.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { eventually } from "../../support/eventually.ts";
import { hangs, wants } from "../../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const WORKERS = 4;

/** A lead whose workers delegate once more; the workers at the lowest level never end. */
async function createProject(): Promise<AcpProject> {
  const agent = {
    workers: { agents: ["coder", "helper"] },
    approvals: { allow: ["*"] },
    onLost: "resend",
  };
  const here = await createAcpProject(command, agent, ({ messages }) => {
    const last = JSON.stringify(messages.at(-1));
    const input = { task: "Wait", agent: "helper" };
    return last.includes("Split") ? wants({ id: "d", name: "delegate", input }) : hangs("Well");
  });
  const file = here.args[here.args.indexOf("--config") + 1] ?? "";
  const { coder } = JSON.parse(readFileSync(file, "utf8")).agents;
  const { workers: _, ...helper } = coder;
  writeFileSync(file, JSON.stringify({ agents: { coder, helper } }));
  return here;
}

async function connect(child: ReturnType<AcpProject["spawn"]>): Promise<AcpPeer> {
  child.stdin.on("error", () => {});
  onTestFinished(() => void child.kill("SIGKILL"));
  const host = createLineClient(child.stdout, child.stdin);
  const clientCapabilities = { _meta: { harn: {} } };
  await host.requestResult("initialize", { protocolVersion: 1, clientCapabilities });
  return host;
}

/** The sessions as the command line lists them. */
async function listSessions({ data }: AcpProject): Promise<readonly [id: string, state: string][]> {
  const args = ["sessions", "list", "--workers", "--json", "--limit", "100", "--data-dir", data];
  const { stdout } = await command.run(args);
  const { sessions } = JSON.parse(stdout);
  return sessions.map((row: { sessionId: string; state: string }) => [row.sessionId, row.state]);
}

it(
  "After two SIGKILLs while workers at two levels run, no worker is doubled, and the end of the root leaves no session running",
  { timeout: 60_000 },
  async () => {
    const here = await createProject();
    const first = here.spawn();
    const host = await connect(first);
    const opened = await host.requestResult("session/new", { cwd: here.project, mcpServers: [] });
    const sessionId = readText(opened["sessionId"]);
    const ids: string[] = [];
    for (let count = 0; count < WORKERS; count++) {
      const reply = await host.requestResult("session/delegate", { sessionId, task: "Split" });
      ids.push(readText(reply["workerId"]));
    }
    const countWaiting = (): number =>
      here.model.modelRequests.filter(({ messages }) => JSON.stringify(messages).includes("Wait"))
        .length;
    await eventually(() => expect(countWaiting()).toBe(WORKERS));
    first.kill("SIGKILL");
    const before = (await listSessions(here)).map(([id]) => id).toSorted();
    expect(before).toHaveLength(1 + 2 * WORKERS);
    const second = here.spawn();
    const resumed = await connect(second);
    await resumed.requestResult("session/load", { sessionId, cwd: here.project, mcpServers: [] });
    await eventually(() => expect(countWaiting()).toBe(2 * WORKERS));
    second.kill("SIGKILL");
    const last = await connect(here.spawn());
    await last.requestResult("session/load", { sessionId, cwd: here.project, mcpServers: [] });
    for (const workerId of ids)
      await last.requestResult("session/close_agent", { sessionId, workerId });
    await eventually(async () => {
      const { workers } = await last.requestResult("session/workers", { sessionId });
      expect(workers).toEqual([]);
    });
    const after = await listSessions(here);
    expect(after.map(([id]) => id).toSorted()).toEqual(before);
    expect(after.filter(([, state]) => state !== "idle")).toEqual([]);
  },
);
