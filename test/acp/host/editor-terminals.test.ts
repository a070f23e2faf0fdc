import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RequestError } from "@agentclientprotocol/sdk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Clock } from "../../../src/platform/clock.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { type Sandbox, findSandbox } from "../../../src/tools/workspace/sandbox/find-sandbox.ts";
import { workspaceTools } from "../../../src/tools/workspace/workspace-tools.ts";
import { connectAcpClient, readText, serveOnSocket } from "../../support/acp/acp-client.ts";
import { connectEditor, createEditorMachine, EDITORS } from "../../support/acp/editor-machine.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { eventually } from "../../support/eventually.ts";
import { createFakeClock, advanceUntil } from "../../support/fake-clock.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { createTemporaryFolder } from "../../support/session/test-workspace.ts";

const found = await findSandbox({ path: process.env["PATH"] ?? "", workspaces: [] });

interface Wish {
  readonly sandbox?: Sandbox;
  readonly editorTerminals?: boolean;
}

/** An agent that runs a command in its workspace. */
function world(input: object, { sandbox, editorTerminals = true }: Wish = {}) {
  const root = join(createTemporaryFolder(), "project");
  mkdirSync(root);
  const tools = workspaceTools({
    root,
    protectedFolders: [],
    editorTerminals,
    environment: { PATH: process.env["PATH"] ?? "", HOME: root },
    ...(sandbox !== undefined && { sandbox }),
  });
  const call = { id: "c", name: "run_command", input: { ...input } };
  return { root, ...createClientToolSessions([wants(call), says("Done.")], { tools }) };
}

/** A plain client with a running prompt. */
async function running(sessions: Sessions, cwd: string, clock: Clock) {
  const client = await connectAcpClient(sessions, { clock });
  await client.request("initialize", { clientCapabilities: { terminal: true } });
  const opened = await client.requestResult("session/new", { cwd, mcpServers: [] });
  const sessionId = readText(opened["sessionId"]);
  const prompt = [{ type: "text", text: "Go" }];
  return { client, sessionId, done: client.requestResult("session/prompt", { sessionId, prompt }) };
}

const TERMINAL = { type: "terminal", terminalId: "terminal 1" };
const WAITS = { command: "echo begun > begun; while true; do sleep 0.05; done" };

function isOver(pid: number | undefined): boolean {
  try {
    process.kill(pid ?? 0, 0);
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}

describe.each(EDITORS)("Terminal of the official client %s", (_, connect) => {
  it("A command runs in the terminal, which is released afterwards [ACP-90]", async () => {
    vi.stubEnv("SPANLINE_TEST_SECRET", "of the editor");
    onTestFinished(() => void vi.unstubAllEnvs());
    const made = world({ command: "echo out; echo err >&2; env; pwd; exit 3" });
    const { sessions, root, listResults } = made;
    const machine = createEditorMachine();
    const { socket } = await serveOnSocket(sessions);
    const editor = await connect(socket, machine);
    const sessionId = await editor.newSession(root);
    expect(await editor.prompt(sessionId, "Go")).toBe("end_turn");
    const [text = ""] = await listResults(sessionId);
    expect(text).toMatch(/^Exit code 3 after .* seconds?, not confined\nstdout:\n/);
    expect(text).toContain("out\n");
    expect(text).toContain("\nerr");
    expect(text).toContain(root);
    // The command must not see the editor's environment.
    expect(text).not.toContain("SPANLINE_TEST_SECRET");
    expect(editor.toolUpdates.at(-1)).toMatchObject({ status: "completed", content: [TERMINAL] });
    await machine.waitForRequest("terminal/release");
    expect(machine.requests).toEqual([
      "terminal/create",
      "terminal/wait_for_exit terminal 1",
      "terminal/output terminal 1",
      "terminal/release terminal 1",
    ]);
    expect(machine.terminals.size).toBe(0);
  });

  it("A cancelled turn kills the command and releases the terminal [ACP-109]", async () => {
    const { sessions, root } = world(WAITS);
    const machine = createEditorMachine();
    const { socket } = await serveOnSocket(sessions);
    const editor = await connect(socket, machine);
    const sessionId = await editor.newSession(root);
    const done = editor.prompt(sessionId, "Go");
    await machine.waitForRequest("terminal/wait_for_exit");
    const pid = machine.terminals.get("terminal 1")?.child.pid;
    await editor.cancel(sessionId);
    expect(await done).toBe("cancelled");
    await machine.waitForRequest("terminal/release");
    expect(machine.requests.slice(-2)).toEqual([
      "terminal/kill terminal 1",
      "terminal/release terminal 1",
    ]);
    await eventually(() => expect(isOver(pid)).toBe(true));
  });
});

describe("Command in an editor terminal", () => {
  it("A command is killed at its timeout and its output is returned", async () => {
    const input = { command: "echo begun; sleep 600", timeout_seconds: 300 };
    const { sessions, root, listResults: results } = world(input);
    const machine = createEditorMachine();
    const clock = createFakeClock();
    const { socket } = await serveOnSocket(sessions, { clock });
    const editor = await connectEditor(socket, machine);
    const sessionId = await editor.newSession(root);
    const done = editor.prompt(sessionId, "Go");
    await machine.waitForRequest("terminal/wait_for_exit");
    await eventually(async () => {
      const written = await machine.perform("terminal/output", { terminalId: "terminal 1" });
      expect(written).toMatchObject({ output: "begun\n" });
    });
    clock.advance(300_000);
    await done;
    expect((await results(sessionId)).join()).toMatch(
      /^Stopped at its time limit, after .*\nstdout:\nbegun$/,
    );
    await machine.waitForRequest("terminal/release");
    expect(machine.requests.slice(-3)).toEqual([
      "terminal/kill terminal 1",
      "terminal/output terminal 1",
      "terminal/release terminal 1",
    ]);
  });

  it.runIf(found.sandbox !== undefined)(
    "A command in an editor terminal is confined like a local command",
    async () => {
      const outside = createTemporaryFolder();
      const input = { command: `touch inside ${outside}/made; ls inside` };
      const {
        sessions,
        root,
        listResults: results,
      } = world(input, found.sandbox === undefined ? {} : { sandbox: found.sandbox });
      const { socket } = await serveOnSocket(sessions);
      const editor = await connectEditor(socket, createEditorMachine());
      const sessionId = await editor.newSession(root);
      await editor.prompt(sessionId, "Go");
      const text = (await results(sessionId)).join();
      expect(text).toMatch(/^Exit code 0 after .*, confined\n/);
      expect(text).toMatch(/touch: cannot touch .*made/);
      expect(text).toContain("\ninside");
    },
  );

  it("A command runs locally if the setting is off or the client offers no terminals [W-29]", async () => {
    for (const [wish, offer] of [
      [{ editorTerminals: false }, undefined],
      [{}, { terminal: false }],
    ] as const) {
      const { sessions, root, listResults: results } = world({ command: "echo here" }, wish);
      const machine = createEditorMachine();
      const { socket } = await serveOnSocket(sessions);
      const editor = await connectEditor(socket, machine, offer);
      const sessionId = await editor.newSession(root);
      await editor.prompt(sessionId, "Go");
      expect((await results(sessionId)).join()).toContain("stdout:\nhere");
      expect(machine.requests).toEqual([]);
    }
  });

  it.each([
    [{ argv: ["printf", "%s", "a 'b' $HOME"] }, ["printf", "%s", "a 'b' $HOME"]],
    [
      { command: "echo 'a b' | cat" },
      [expect.stringMatching(/\/(?:ba)?sh$/), "-c", "echo 'a b' | cat"],
    ],
  ])(
    "The terminal request for %j has a program with arguments and no extra fields [W-29]",
    async (input, argv) => {
      const { sessions, root } = world(input);
      const { client, sessionId } = await running(sessions, root, createFakeClock());
      const create = await client.waitForMessage(({ method }) => method === "terminal/create");
      const variables = expect.arrayContaining([`HOME=${root}`]);
      const { args, ...rest } = Object(create["params"]);
      // `env -i` starts the program with the tool's environment instead of the editor's.
      expect(rest).toEqual({
        sessionId,
        command: expect.stringMatching(/\/env$/),
        cwd: root,
        outputByteLimit: expect.any(Number),
      });
      expect([args[0], args.slice(1, -argv.length), args.slice(-argv.length)]).toEqual([
        "-i",
        variables,
        argv,
      ]);
    },
  );

  it("Other clients receive the output as fenced text without the terminal id [ACP-89] [ACP-90]", async () => {
    const { sessions, root } = world({ command: "echo here" });
    const { socket } = await serveOnSocket(sessions);
    const editor = await connectEditor(socket, createEditorMachine());
    const sessionId = await editor.newSession(root);
    const other = await connectAcpClient(sessions);
    await other.request("initialize", {});
    await other.requestResult("session/load", { sessionId, cwd: root, mcpServers: [] });
    await editor.prompt(sessionId, "Go");
    const last = await eventually(async () => {
      const ended = other.listUpdates(sessionId).find(({ status }) => status === "completed");
      expect(ended).toBeDefined();
      return ended;
    });
    expect(JSON.stringify(last)).toContain("```\\nExit code 0");
    expect(JSON.stringify(other.listUpdates(sessionId))).not.toContain("terminal 1");
    // The log does not contain the terminal id either, so later clients never receive it.
    await other.requestResult("session/load", { sessionId, cwd: root, mcpServers: [] });
    expect(JSON.stringify(other.messages)).not.toContain("terminal 1");
  });

  it("The outcome is unknown if the editor disconnects during the command", async () => {
    const { sessions, root, listResults: results } = world(WAITS);
    const machine = createEditorMachine();
    const served = await serveOnSocket(sessions);
    const editor = await connectEditor(served.socket, machine);
    const sessionId = await editor.newSession(root);
    editor.prompt(sessionId, "Go").catch(() => undefined);
    await machine.waitForRequest("terminal/wait_for_exit");
    served.socket.destroy();
    await served.done;
    await eventually(async () =>
      expect((await results(sessionId)).join()).toContain("The outcome of the command is unknown"),
    );
  });

  it("A terminal created after a cancellation is killed and released [ACP-109]", async () => {
    const { sessions, root } = world(WAITS);
    const client = await connectAcpClient(sessions);
    await client.request("initialize", { clientCapabilities: { terminal: true } });
    const opened = await client.requestResult("session/new", { cwd: root, mcpServers: [] });
    const sessionId = readText(opened["sessionId"]);
    const done = client.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Go" }],
    });
    const create = await client.waitForMessage(({ method }) => method === "terminal/create");
    const kills = client.waitForMessage(({ method }) => method === "terminal/kill");
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect(await done).toEqual({ stopReason: "cancelled" });
    client.send({ jsonrpc: "2.0", id: create["id"], result: { terminalId: "late" } });
    client.send({ jsonrpc: "2.0", id: (await kills)["id"], result: {} });
    const release = await client.waitForMessage(({ method }) => method === "terminal/release");
    expect(release["params"]).toEqual({ sessionId, terminalId: "late" });
    const methods = client.messages.map(({ method }) => method);
    expect(methods.filter((one) => readText(one).startsWith("terminal/"))).toEqual([
      "terminal/create",
      "terminal/kill",
      "terminal/release",
    ]);
    expect(JSON.stringify(client.listUpdates(sessionId))).not.toContain("late");
  });

  it("A command fails if the terminal is not created in time, and a late terminal is killed and released [ACP-109]", async () => {
    const clock = createFakeClock();
    const { sessions, root, listResults: results } = world(WAITS);
    const { client, sessionId, done } = await running(sessions, root, clock);
    const create = await client.waitForMessage(({ method }) => method === "terminal/create");
    await advanceUntil(clock, done);
    expect(await done).toEqual({ stopReason: "end_turn" });
    expect((await results(sessionId)).join()).toContain("the client did not respond in time");
    const taken = await client.waitForMessage(({ method }) => method === "$/cancel_request");
    expect(taken["params"]).toEqual({ requestId: create["id"] });
    client.send({ jsonrpc: "2.0", id: create["id"], result: { terminalId: "late" } });
    for (const method of ["terminal/kill", "terminal/release"]) {
      const terminalRequest = await client.waitForMessage((one) => one["method"] === method);
      expect(terminalRequest["params"]).toEqual({ sessionId, terminalId: "late" });
      client.send({ jsonrpc: "2.0", id: terminalRequest["id"], result: {} });
    }
  });

  it("A release request without a response is cancelled after a timeout", async () => {
    const clock = createFakeClock();
    const { sessions, root } = world({ command: "true" });
    const { client, done } = await running(sessions, root, clock);
    for (const [method, result] of [
      ["terminal/create", { terminalId: "t" }],
      ["terminal/wait_for_exit", { exitCode: 0 }],
      ["terminal/output", { output: "", truncated: false }],
    ] as const) {
      const terminalRequest = await client.waitForMessage((one) => one["method"] === method);
      client.send({ jsonrpc: "2.0", id: terminalRequest["id"], result });
    }
    expect(await done).toEqual({ stopReason: "end_turn" });
    const release = await client.waitForMessage(({ method }) => method === "terminal/release");
    const taken = client.waitForMessage(({ method }) => method === "$/cancel_request");
    await advanceUntil(clock, taken);
    expect((await taken)["params"]).toEqual({ requestId: release["id"] });
  });

  it("A command fails with the editor's error if the terminal cannot be created", async () => {
    const { sessions, root, listResults: results } = world({ command: "echo here" });
    const machine = createEditorMachine();
    machine.overrides.set("terminal/create", () => Promise.reject(new Error("no more terminals")));
    const { socket } = await serveOnSocket(sessions);
    const editor = await connectEditor(socket, machine);
    const sessionId = await editor.newSession(root);
    await editor.prompt(sessionId, "Go");
    expect((await results(sessionId)).join()).toContain("no more terminals");
    expect(editor.toolUpdates.at(-1)?.status).toBe("failed");
  });

  it.each(["terminal/wait_for_exit", "terminal/output"])(
    "A command is not run again if the editor does not support %s",
    async (method) => {
      const { sessions, root, listResults: results } = world({ command: "echo once >> ran" });
      const ran = join(root, "ran");
      const machine = createEditorMachine();
      machine.overrides.set(method, async () => {
        await eventually(() => expect(readFileSync(ran, "utf8")).toBe("once\n"));
        throw RequestError.methodNotFound(method);
      });
      const { socket } = await serveOnSocket(sessions);
      const editor = await connectEditor(socket, machine);
      const sessionId = await editor.newSession(root);
      await editor.prompt(sessionId, "Go");
      expect((await results(sessionId)).join()).toContain("The outcome of the command is unknown");
      expect(readFileSync(ran, "utf8")).toBe("once\n");
      expect(editor.toolUpdates.at(-1)?.status).toBe("failed");
    },
  );
});
