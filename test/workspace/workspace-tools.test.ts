import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isToolOutput, createToolOutput } from "../../src/domain/tools/tool-output.ts";
import { WORKSPACE_TOOL_NAMES, workspaceTools } from "../../src/tools/workspace/workspace-tools.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import { createAgent, openWorld } from "../support/session/session-world.ts";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

describe("Workspace tools", () => {
  it("The tools have the names that a configuration can choose from", () => {
    expect([...createTestWorkspace().tools.keys()]).toEqual(WORKSPACE_TOOL_NAMES);
  });

  it("The tools declare the traits that rules match", () => {
    const toolNotes = [...createTestWorkspace().tools.values()].map(({ spec }) => {
      const { kind, sideEffect, paths, capabilities, executor } = spec.traits ?? {};
      expect(executor).toEqual({ type: "builtin" });
      return [spec.name, spec.idempotent, kind, sideEffect, paths, capabilities];
    });
    expect(toolNotes).toEqual([
      ["read_file", true, "read", "read_only", ["path"], ["workspace.read_text"]],
      ["write_file", false, "edit", "workspace_write", ["path"], ["workspace.write_text"]],
      [
        "edit_file",
        false,
        "edit",
        "workspace_write",
        ["path"],
        ["workspace.read_text", "workspace.write_text"],
      ],
      ["list_files", true, "read", "read_only", ["path"], ["workspace.list"]],
      [
        "search",
        true,
        "search",
        "read_only",
        ["path"],
        ["workspace.search", "workspace.read_text"],
      ],
      ["run_command", false, "execute", "process_exec", ["working_directory"], ["process.exec"]],
      ["update_plan", true, "think", "none", undefined, undefined],
    ]);
  });

  it("Invalid options are refused", () => {
    const wrong = (options: object, path: string) =>
      expect(() => createTestWorkspace(options)).toThrow(
        expect.objectContaining({ code: "invalid_option", details: { path } }),
      );
    wrong({ root: "relative" }, "root");
    wrong({ root: "/" }, "root");
    wrong({ root: "//" }, "root");
    wrong({ limits: { readLines: 0 } }, "limits.readLines");
    wrong({ limits: { readLines: Number.NaN } }, "limits.readLines");
    wrong({ limits: { lines: 1 } }, "limits.lines");
  });

  it("The tools work in the folder of their session if configured so", async () => {
    const { base, data } = createTestWorkspace();
    mkdirSync(join(base, "mine"));
    const root = ({ workingDirectory }: { readonly workingDirectory?: string }): string =>
      workingDirectory ?? join(base, "mine");
    const { run } = createTestWorkspace({ root, protectedFolders: [data] });
    expect((await run("run_command", { command: "pwd" })).text).toContain(join(base, "mine"));
  });

  it("A missing workspace and the root directory are refused as workspace", async () => {
    const { run } = createTestWorkspace({ root: "/not/there" });
    await expect(run("list_files", {})).rejects.toThrow("The workspace does not exist");
    const { base } = createTestWorkspace();
    symlinkSync("/", join(base, "machine"));
    const machine = createTestWorkspace({ root: join(base, "machine") });
    await expect(machine.run("list_files", {})).rejects.toThrow(
      "The root folder / is not a valid workspace",
    );
  });

  it("The tools run in a session, and the model gets their text", async () => {
    const { root, data, write } = createTestWorkspace();
    write("a", "hello");
    const tools = workspaceTools({ root, protectedFolders: [data] });
    const calls = [
      wants({ id: "c1", name: "read_file", input: { path: "a" } }),
      wants({ id: "c2", name: "read_file", input: { path: "../outside/secret.txt" } }),
      wants({ id: "c3", name: "run_command", input: { command: "cat a" } }),
      says("Done."),
    ];
    const provider = createScriptedProvider(calls);
    const world = await openWorld(createAgent({ provider, tools }));
    await world.prompt("Go.");
    await world.waitForEvent("turn.finished");
    const [read, refused, ran] = (await world.listEvents("tool.finished")).map(({ result }) =>
      JSON.stringify(result),
    );
    expect(read).toContain(String.raw`1\thello`);
    expect(refused).toContain("outside");
    expect(ran).toContain("Exit code 0");
    expect(ran).toContain("hello");
  });
});

describe("Tool outputs", () => {
  it("A tool output can be recognized, and converts to its text elsewhere", () => {
    const output = createToolOutput({
      text: "Done",
      diffs: [{ path: "a", oldText: null, newText: "" }],
    });
    expect(isToolOutput(output)).toBe(true);
    expect(JSON.stringify({ output })).toBe('{"output":"Done"}');
    expect(output).toEqual({ text: "Done", diffs: [{ path: "a", oldText: null, newText: "" }] });
    for (const other of [null, undefined, "Done", { text: "Done" }, JSON.parse('{"text":"a"}')]) {
      expect(isToolOutput(other)).toBe(false);
    }
  });
});
