import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workspaceTools } from "../../../src/tools/workspace/workspace-tools.ts";
import { connectAcpClient, readText, serveOnSocket } from "../../support/acp/acp-client.ts";
import { startAcpServer } from "../../support/acp/acp-server.ts";
import { connectEditor, createEditorMachine, EDITORS } from "../../support/acp/editor-machine.ts";
import {
  createClientToolSessions,
  type ClientToolSessions,
} from "../../support/session/client-tool-sessions.ts";
import { eventually } from "../../support/eventually.ts";
import { says, wants, type ProviderScript } from "../../support/session/scripted-provider.ts";
import { createTemporaryFolder } from "../../support/session/test-workspace.ts";

interface World extends ClientToolSessions {
  readonly root: string;
  readonly file: string;
}

/** A workspace with a single file and an agent with the given tool calls. */
function world(answers: readonly ProviderScript[], approvals: object = {}): World {
  const root = join(createTemporaryFolder(), "project");
  mkdirSync(root);
  const file = join(root, "a.txt");
  writeFileSync(file, "saved\n");
  const tools = workspaceTools({ root, protectedFolders: [] });
  const made = createClientToolSessions(answers, { tools, ...approvals });
  return { ...made, root, file };
}

const EDIT = { path: "a.txt", old_text: "typed", new_text: "edited" };
const READS = [wants({ id: "r", name: "read_file", input: { path: "a.txt" } }), says("Done.")];
const WRITE = { id: "w", name: "write_file", input: { path: "a.txt", content: "new" } };
const WRITES = [wants(WRITE), says("Done.")];
const ASKED = { approvals: { deny: [], ask: ["edit_file"], allow: ["*"], default: "ask" } };

describe.each(EDITORS)("Files of the official client %s", (_, connect) => {
  it("Open files are read and edited in the editor after the same permission request as on disk [ACP-87] [ACP-92]", async () => {
    const edits = wants({ id: "e", name: "edit_file", input: EDIT });
    const { sessions, root, file, listResults } = world(
      [READS[0] ?? edits, edits, says("Ok")],
      ASKED,
    );
    const machine = createEditorMachine({ [file]: "typed\n" });
    const { socket } = await serveOnSocket(sessions);
    const editor = await connect(socket, machine);
    const sessionId = await editor.newSession(root);
    expect(await editor.prompt(sessionId, "Go")).toBe("end_turn");
    const [read = "", edited = ""] = await listResults(sessionId);
    expect(read).toContain("1\ttyped");
    expect(edited).toContain("Changed a.txt at line 1");
    expect(machine.buffers).toEqual(new Map([[file, "edited\n"]]));
    expect(readFileSync(file, "utf8")).toBe("saved\n");
    const diff = { type: "diff", path: file, oldText: "typed\n", newText: "edited\n" };
    expect(editor.permissionRequests[0]?.content).toContainEqual(diff);
    expect(editor.toolUpdates.at(-1)).toMatchObject({ status: "completed" });
    expect(editor.toolUpdates.at(-1)?.content).toContainEqual(diff);
    expect(machine.requests).toEqual([
      `fs/read_text_file ${file}`,
      `fs/read_text_file ${file}`,
      `fs/read_text_file ${file}`,
      `fs/write_text_file ${file}`,
    ]);
  });

  it("A file that the editor does not have is read from the disk", async () => {
    const { sessions, root, listResults: results } = world(READS);
    const { socket } = await serveOnSocket(sessions);
    const editor = await connect(socket, createEditorMachine());
    const sessionId = await editor.newSession(root);
    expect(await editor.prompt(sessionId, "Go")).toBe("end_turn");
    expect((await results(sessionId)).join()).toContain("1\tsaved");
  });
});

describe("Editor files", () => {
  it("The disk is used if the client does not offer files [ACP-25]", async () => {
    const { sessions, root, file, listResults: results } = world([...READS.slice(0, 1), ...WRITES]);
    const machine = createEditorMachine({ [file]: "typed\n" });
    const { socket } = await serveOnSocket(sessions);
    const editor = await connectEditor(socket, machine, {});
    const sessionId = await editor.newSession(root);
    await editor.prompt(sessionId, "Go");
    expect((await results(sessionId)).join()).toContain("1\tsaved");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(machine.requests).toEqual([]);
  });

  it("Files of a WebSocket client are not used, even if the client offers them", async () => {
    const { sessions, root, file, listResults: results } = world([...READS.slice(0, 1), ...WRITES]);
    const client = await (await startAcpServer(sessions)).connect();
    const offer = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
    await client.request("initialize", { clientCapabilities: offer });
    const opened = await client.requestResult("session/new", { cwd: root, mcpServers: [] });
    const sessionId = readText(opened["sessionId"]);
    await client.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Go" }],
    });
    expect((await results(sessionId)).join()).toContain("1\tsaved");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(client.messages.filter(({ method }) => readText(method).startsWith("fs/"))).toEqual([]);
  });

  it("The controller's files are used if the prompting client offers none", async () => {
    const { sessions, root, file, listResults: results } = world(READS);
    const machine = createEditorMachine({ [file]: "typed\n" });
    const { socket } = await serveOnSocket(sessions);
    const editor = await connectEditor(socket, machine);
    const sessionId = await editor.newSession(root);
    const plain = await connectAcpClient(sessions);
    await plain.request("initialize", {});
    await plain.requestResult("session/load", { sessionId, cwd: root, mcpServers: [] });
    await plain.requestResult("session/prompt", {
      sessionId,
      prompt: [{ type: "text", text: "Go" }],
    });
    expect((await results(sessionId)).join()).toContain("1\ttyped");
  });

  it("The files of the prompting client are used, not the controller's", async () => {
    const { sessions, root, file, listResults: results } = world(READS);
    const machines = [
      createEditorMachine({ [file]: "one\n" }),
      createEditorMachine({ [file]: "two\n" }),
    ];
    const connected = machines.map(async (machine) =>
      connectEditor((await serveOnSocket(sessions)).socket, machine),
    );
    const [first, second] = await Promise.all(connected);
    const sessionId = (await first?.newSession(root)) ?? "";
    await second?.loadSession(sessionId, root);
    await second?.prompt(sessionId, "Go");
    expect((await results(sessionId)).join()).toContain("1\ttwo");
    expect(machines[0]?.requests).toEqual([]);
  });

  it("A write that the editor refuses is not made on the disk either", async () => {
    const { sessions, root, file, listResults: results } = world(WRITES);
    const machine = createEditorMachine({ [file]: "typed\n" });
    machine.overrides.set("fs/write_text_file", () =>
      Promise.reject(new Error("read-only buffer")),
    );
    const { socket } = await serveOnSocket(sessions);
    const editor = await connectEditor(socket, machine);
    const sessionId = await editor.newSession(root);
    expect(await editor.prompt(sessionId, "Go")).toBe("end_turn");
    expect((await results(sessionId)).join()).toMatch(
      /The editor did not write a\.txt: .*read-only buffer/,
    );
    expect(readFileSync(file, "utf8")).toBe("saved\n");
  });

  it("A pending write request is cancelled with the turn [ACP-109]", async () => {
    const { sessions, root } = world(WRITES);
    const client = await connectAcpClient(sessions);
    const offer = { fs: { readTextFile: false, writeTextFile: true } };
    await client.request("initialize", { clientCapabilities: offer });
    const { sessionId } = await client.requestResult("session/new", { cwd: root, mcpServers: [] });
    const prompt = { sessionId, prompt: [{ type: "text", text: "Go" }] };
    const done = client.requestResult("session/prompt", prompt);
    const writeRequest = await client.waitForMessage(
      ({ method }) => method === "fs/write_text_file",
    );
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect(await done).toEqual({ stopReason: "cancelled" });
    const taken = await client.waitForMessage(({ method }) => method === "$/cancel_request");
    expect(taken["params"]).toEqual({ requestId: writeRequest["id"] });
  });

  it("The outcome of a write is unknown if the editor disconnects during it", async () => {
    const { sessions, root, file, listResults: results } = world(WRITES);
    const client = await connectAcpClient(sessions);
    const offer = { fs: { readTextFile: false, writeTextFile: true } };
    await client.request("initialize", { clientCapabilities: offer });
    const opened = await client.requestResult("session/new", { cwd: root, mcpServers: [] });
    const sessionId = readText(opened["sessionId"]);
    const params = { sessionId, prompt: [{ type: "text", text: "Go" }] };
    client.send({ jsonrpc: "2.0", id: 90, method: "session/prompt", params });
    await client.waitForMessage(({ method }) => method === "fs/write_text_file");
    client.socket.destroy();
    await client.done;
    await eventually(async () =>
      expect((await results(sessionId)).join()).toContain(
        "Whether the editor wrote a.txt is unknown (The client is gone)",
      ),
    );
    expect(readFileSync(file, "utf8")).toBe("saved\n");
  });
});
