import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { isObject } from "../../../src/data/json.ts";
import {
  readText,
  createLineClient,
  type LineClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { createAcpProject, type AcpProject } from "../../support/acp/acp-project.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { expectGone } from "../../support/processes.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
  await command.bundle("tools/define-tool.ts", "kit/define-tool.mjs");
});
afterAll(() => command.close());

interface Connected {
  readonly child: ChildProcessWithoutNullStreams;
  readonly client: LineClient;
  /** The exit code and the signal, after all output was read. */
  readonly exit: Promise<unknown[]>;
  readonly notes: () => string;
}

/** A client with an agent process which it started. */
function connected(world: AcpProject, ...flags: readonly string[]): Connected {
  const child = world.spawn(...flags);
  let notes = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    notes += text;
  });
  child.stdin.on("error", () => {});
  const client = createLineClient(child.stdout, child.stdin);
  return { child, client, exit: once(child, "close"), notes: () => notes };
}

/** An agent whose only tool runs this code. */
async function worldWithTool(run: string, before = ""): Promise<AcpProject> {
  const world = await createAcpProject(command, {
    workspace: undefined,
    tools: ["./tools.mjs"],
    approvals: { allow: ["*"] },
  });
  const facts = `name: "write_file", description: "Writes", input: { type: "object" }`;
  writeFileSync(
    join(world.project, "../tools.mjs"),
    `import { defineTool } from ${JSON.stringify(join(command.folder, "kit/define-tool.mjs"))};
    ${before}
    export default [defineTool({ ${facts}, run: async (input, context) => { ${run} } })];`,
  );
  return world;
}

function prompt(sessionId: string, text: string): object {
  return { sessionId, prompt: [{ type: "text", text }] };
}

function code({ error }: Message): unknown {
  return isObject(error) ? error["code"] : undefined;
}

function readAgentText(client: LineClient, sessionId?: string): string {
  return client
    .listUpdates(sessionId)
    .map(({ content }) => (isObject(content) ? readText(content["text"]) : ""))
    .join("");
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

describe("Process output", () => {
  it("Stdout contains only the protocol, whatever its tools print [ACP-1]", async () => {
    const world = await worldWithTool(
      `console.log("called"); console.table([1]); return "fine";`,
      `console.log("loaded"); console.info("{}"); process.stdout.write("raw\\n");`,
    );
    const { client, child, exit, notes } = connected(world);
    const sessionId = await client.newSession(world.project);
    await client.requestResult("session/prompt", prompt(sessionId, "write it down"));
    expect(client.listUpdates().some(({ status }) => status === "completed")).toBe(true);
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    expect(notes().split("\n")).toEqual(expect.arrayContaining(["loaded", "{}", "raw", "called"]));
  });

  it("Stdout contains only ACP requests, responses and updates [B-001] [B-002] [B-003] [B-004] [B-005]", async () => {
    const world = await createAcpProject(command);
    const { client } = connected(world);
    const sessionId = await client.newSession(world.project);
    const turn = client.requestResult("session/prompt", prompt(sessionId, "write it down"));
    const { id: permissionId } = await client.waitForMessage(isPermission);
    const outcome = { outcome: "selected", optionId: "allow" };
    client.send({ jsonrpc: "2.0", id: permissionId, result: { outcome } });
    await turn;
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    client.send({ jsonrpc: "2.0", method: "_vendor/whatever", params: {} });
    await client.request("initialize");
    const kinds = client.messages.map(({ id, method, result }) => {
      if (method === undefined) return result === undefined ? "nothing" : "answer";
      return id === undefined ? "notification" : "request";
    });
    expect(new Set(kinds)).toEqual(new Set(["answer", "notification", "request"]));
    // Each request has a response; notifications have none.
    expect(kinds.filter((kind) => kind === "answer")).toHaveLength(4);
    const methods = new Set(client.messages.flatMap(({ method }) => method ?? []));
    expect(methods).toEqual(new Set(["session/update", "session/request_permission"]));
  });

  it("The tool call updates equal the log, and an allowed tool call sends no request [B-010] [B-014]", async () => {
    const world = await createAcpProject(command, { approvals: { allow: ["*"] } });
    const { client } = connected(world);
    const sessionId = await client.newSession(world.project);
    await client.requestResult("session/prompt", prompt(sessionId, "write it down"));
    expect(client.messages.filter(isPermission)).toEqual([]);
    const calls = (): Message[] =>
      client.listUpdates().filter(({ toolCallId }) => toolCallId !== undefined);
    const live = calls();
    expect(live.length).toBeGreaterThan(2);
    await client.requestResult("session/load", { sessionId, cwd: world.project, mcpServers: [] });
    expect(calls().slice(live.length)).toEqual(live);
  });

  it("Ignored messages are logged to stderr only with --verbose [ACP-13]", async () => {
    const world = await worldWithTool(
      "",
      `process.emitWarning("Tables are an experimental feature", "ExperimentalWarning");`,
    );
    const PASSED_OVER = [
      "an unknown notification was ignored",
      "a response without an open request was ignored",
      "Tables are an experimental feature",
    ];
    for (const flags of [[], ["--verbose"]]) {
      const { client, child, exit, notes } = connected(world, ...flags);
      client.send({ jsonrpc: "2.0", method: "editor/moved", params: {} });
      client.send({ jsonrpc: "2.0", id: "stray", result: {} });
      await client.newSession(world.project);
      child.stdin.end();
      expect(await exit).toEqual([0, null]);
      const lines = notes().split("\n").filter(Boolean);
      const expectedNotes = flags.length === 0 ? [] : PASSED_OVER;
      expect(lines.map((line) => JSON.parse(line).message)).toEqual(expectedNotes);
    }
  });
});

describe("Process input", () => {
  const HARD = "line\nbreak \u2028 \u{1f680} é \u0000 \\n end";

  it("Any line end is accepted and any character is kept [ACP-2] [ACP-3]", async () => {
    const world = await createAcpProject(command);
    const { client } = connected(world);
    client.sendText('\r\n\n{"jsonrpc":"2.0","id":"a","method":"initialize"}\r\n\r\n  \n');
    await client.waitForMessage(({ id }) => id === "a");
    const sessionId = await client.newSession(world.project);
    await client.requestResult("session/prompt", prompt(sessionId, HARD));
    expect(readAgentText(client)).toBe(`You said: ${HARD}`);
  });

  it("Any request id is accepted and returned unchanged [ACP-9] [W-47]", async () => {
    const { client } = connected(await createAcpProject(command));
    const ids = ["a", "", "0", 0, 7, -3, 1.5, null];
    for (const id of ids) client.send({ jsonrpc: "2.0", id, method: "initialize" });
    client.sendText("{\n");
    await client.waitForMessage((message) => code(message) === -32_700);
    expect(client.messages.map(({ id }) => id)).toEqual([...ids, null]);
  });

  it("A line over the limit is rejected and a running turn continues [ACP-16]", async () => {
    const world = await createAcpProject(command);
    const { client } = connected(world);
    const sessionId = await client.newSession(world.project);
    const turn = client.requestResult("session/prompt", prompt(sessionId, "wait for me"));
    await client.waitForMessage(() => readAgentText(client) === "One moment");
    client.sendText(`{"jsonrpc":"2.0","id":9,"method":"${"x".repeat(17 * 1024 * 1024)}"}\n`);
    await client.waitForMessage((message) => code(message) === -32_600);
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect(await turn).toMatchObject({ stopReason: "cancelled" });
  });
});

describe("End of the process", () => {
  /** A running turn whose tool has started a program. */
  async function busy() {
    const start = `const { ended } = await context.spawn("/bin/sh", ["-c", "echo $$ > pid; exec sleep 1000"], { workingDirectory: context.workingDirectory }); await ended;`;
    const world = await worldWithTool(start);
    const all = connected(world);
    const sessionId = await all.client.newSession(world.project);
    all.client.send({
      jsonrpc: "2.0",
      id: "p",
      method: "session/prompt",
      params: prompt(sessionId, "write it down"),
    });
    // The file exists before its content is written.
    const pid = await eventually(() => {
      const written = readFileSync(join(world.project, "pid"), "utf8");
      expect(written).toMatch(/^\d+\n$/);
      return Number(written);
    });
    return { ...all, pid };
  }

  it("The process and its programs exit at the end of its input [ACP-10]", async () => {
    const { child, exit, pid, notes } = await busy();
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    await expectGone(pid);
    expect(notes()).toBe("");
  });

  it.each(["SIGTERM", "SIGINT"] as const)(
    "The process and its programs exit on %s with its input still open [ACP-12]",
    async (signal) => {
      const { child, exit, pid, notes } = await busy();
      child.kill(signal);
      expect(await exit).toEqual([0, null]);
      await expectGone(pid);
      expect(notes()).toBe("");
    },
  );

  it("The process exits without output when its stdout is closed [ACP-11]", async () => {
    const world = await createAcpProject(command);
    const { client, child, exit, notes } = connected(world);
    await client.newSession(world.project);
    child.stdout.destroy();
    client.send({ jsonrpc: "2.0", id: "p", method: "initialize" });
    expect(await exit).toEqual([0, null]);
    expect(notes()).toBe("");
  });
});

describe("A hundred sessions on one connection", () => {
  it("Slow sessions do not delay the other sessions [W-41] [ACP-78]", async () => {
    const world = await createAcpProject(command);
    const { client } = connected(world);
    await client.request("initialize", { protocolVersion: 1 });
    const setup = { cwd: world.project, mcpServers: [] };
    const opened = Array.from({ length: 100 }, () => client.requestResult("session/new", setup));
    const ids = (await Promise.all(opened)).map(({ sessionId }) => readText(sessionId));
    expect(new Set(ids).size).toBe(100);
    const [slow, quick] = [ids.slice(0, 50), ids.slice(50)];
    const waiting = slow.map((id) =>
      client.requestResult("session/prompt", prompt(id, "wait for me")),
    );
    const answers = quick.map((id) =>
      client.requestResult("session/prompt", prompt(id, `I am ${id}`)),
    );
    for (const { stopReason } of await Promise.all(answers)) expect(stopReason).toBe("end_turn");
    for (const id of quick) expect(readAgentText(client, id)).toBe(`You said: I am ${id}`);
    for (const sessionId of slow) {
      await client.waitForMessage(() => readAgentText(client, sessionId) === "One moment");
      client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    }
    for (const { stopReason } of await Promise.all(waiting)) expect(stopReason).toBe("cancelled");
  });
});
