import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createAcpProject } from "../../support/acp/acp-project.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { connectEditor, createEditorMachine } from "../../support/acp/editor-machine.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const never = (): Promise<object> => new Promise<object>(() => {});

describe("Process killed during an editor write", () => {
  it("An editor write interrupted by a kill is not repeated, and the next client is asked for its outcome [ACP-59] [ACP-91]", async () => {
    const world = await createAcpProject(command);
    const note = join(world.project, "note.txt");
    const machine = createEditorMachine();
    machine.overrides.set("fs/write_text_file", never);
    const agent = world.start();
    const editor = await connectEditor(agent, machine);
    const sessionId = await editor.newSession(world.project);
    editor.prompt(sessionId, "write it down").catch(() => undefined);
    await machine.waitForRequest("fs/write_text_file");
    agent.child.kill("SIGKILL");
    await agent.exit;

    const after = createEditorMachine({ [note]: "write it down" });
    const next = world.start();
    const second = await connectEditor(next, after);
    await second.loadSession(sessionId, world.project);
    await eventually(() => expect(second.permissionRequests).toHaveLength(1));
    expect(JSON.stringify(second.permissionRequests)).toContain(
      "was running when the bridge was killed",
    );
    expect(after.requests.filter((one) => one.startsWith("fs/write"))).toEqual([]);
    expect(world.readWritten("note.txt")).toBeUndefined();
    next.child.stdin.end();
    expect(await next.exit).toEqual([0, null]);
  });
});

describe("Editor that disconnects during a tool call", () => {
  it("The process exits by itself without output [ACP-13]", async () => {
    const world = await createAcpProject(command);
    const machine = createEditorMachine();
    machine.overrides.set("fs/write_text_file", never);
    const agent = world.start();
    const editor = await connectEditor(agent, machine);
    const sessionId = await editor.newSession(world.project);
    editor.prompt(sessionId, "write it down").catch(() => undefined);
    await machine.waitForRequest("fs/write_text_file");
    agent.input.end();
    expect(await agent.exit).toEqual([0, null]);
    expect(world.readWritten("note.txt")).toBeUndefined();
  });
});
