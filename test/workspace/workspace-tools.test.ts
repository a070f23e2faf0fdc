import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isToolOutput, createToolOutput } from "../../src/domain/tools/tool-output.ts";
import { WORKSPACE_TOOL_NAMES, workspaceTools } from "../../src/tools/workspace/workspace-tools.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import { createAgent, openWorld } from "../support/session/session-world.ts";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

describe("the tools of a workspace", () => {
  it("have the names that a configuration chooses from", () => {
    expect([...createTestWorkspace().tools.keys()]).toEqual(WORKSPACE_TOOL_NAMES);
  });

  it("say of themselves what rules ask for", () => {
    const told = [...createTestWorkspace().tools.values()].map(({ spec }) => {
      const { kind, sideEffect, paths, capabilities, executor } = spec.traits ?? {};
      expect(executor).toEqual({ type: "builtin" });
      return [spec.name, spec.idempotent, kind, sideEffect, paths, capabilities];
    });
    expect(told).toEqual([
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

  it("refuse options that cannot be", () => {
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

  it("work in the folder of their session, where they are told to", async () => {
    const { base, data } = createTestWorkspace();
    mkdirSync(join(base, "mine"));
    const root = ({ workingDirectory }: { readonly workingDirectory?: string }): string =>
      workingDirectory ?? join(base, "mine");
    const { run } = createTestWorkspace({ root, protectedFolders: [data] });
    expect((await run("run_command", { command: "pwd" })).text).toContain(join(base, "mine"));
  });

  it("say that there is no workspace, when there is none", async () => {
    const { run } = createTestWorkspace({ root: "/not/there" });
    await expect(run("list_files", {})).rejects.toThrow("The workspace does not exist");
    const { base } = createTestWorkspace();
    symlinkSync("/", join(base, "machine"));
    const machine = createTestWorkspace({ root: join(base, "machine") });
    await expect(machine.run("list_files", {})).rejects.toThrow(
      "The root folder / is not a valid workspace",
    );
  });

  it("run in a session, where the model reads their text", async () => {
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

describe("the output of a tool", () => {
  it("is known for what it is, and is its text for whoever does not know it", () => {
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
