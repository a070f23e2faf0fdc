import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import type { ReminderSettings } from "../../src/domain/agent-spec.ts";
import {
  createScriptedProvider,
  says,
  wants,
  type ScriptedProvider,
} from "../support/session/scripted-provider.ts";
import { createTool, openWorld, type SessionWorld } from "../support/session/session-world.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/session/test-workspace.ts";

interface Edited {
  readonly world: SessionWorld;
  readonly provider: ScriptedProvider;
  readonly workspace: TestWorkspace;
}

/** An agent which has read `a.txt` and written `b.txt` in its first turn. */
async function startEdited(reminders?: ReminderSettings): Promise<Edited> {
  const workspace = createTestWorkspace();
  workspace.write("a.txt", "one\n");
  const provider = createScriptedProvider([
    wants(
      { id: "c1", name: "read_file", input: { path: "a.txt" } },
      { id: "c2", name: "write_file", input: { path: "b.txt", content: "two\n" } },
    ),
    says("Done."),
  ]);
  const agent = defineAgent({
    name: "demo",
    provider,
    tools: [...workspace.tools.values()],
    approvals: { default: "allow" },
    workspace: { root: workspace.root, protectedFolders: [workspace.data] },
    ...(reminders !== undefined && { reminders }),
  });
  const world = await openWorld(agent);
  await runTurn(world, 1);
  expect(await world.listEvents("tool.finished")).toMatchObject([
    { ending: "succeeded" },
    { ending: "succeeded" },
  ]);
  return { world, provider, workspace };
}

async function runTurn(world: SessionWorld, nth: number): Promise<void> {
  await world.prompt(`Turn ${nth}`);
  await world.waitForEvent("turn.finished", nth);
}

/** The texts of the last request to the model. */
function readLastTexts({ invocations }: ScriptedProvider): string[] {
  return Object(invocations.at(-1)?.input).texts;
}

describe("Reminders about changed files", () => {
  it("Files that changed or disappeared since the agent used them are named once, before the next request", async () => {
    const { world, provider, workspace } = await startEdited();
    await runTurn(world, 2);
    expect(readLastTexts(provider)).toEqual(["Turn 2"]);
    writeFileSync(join(workspace.root, "a.txt"), "changed\n");
    rmSync(join(workspace.root, "b.txt"));
    await runTurn(world, 3);
    expect(readLastTexts(provider)).toEqual([
      "Turn 3",
      expect.stringMatching(/\[changed_files\] Files changed .*"a\.txt", "b\.txt" \(deleted\)\./),
    ]);
    expect(await world.listEvents("reminder.emitted")).toMatchObject([
      { reminder: { source: "stdlib_provider", tags: ["changed_files"] } },
    ]);
    await runTurn(world, 4);
    expect(readLastTexts(provider)).toEqual(["Turn 4"]);
  });

  it("A change during a restart is noticed, and an injected message carries the reminder too", async () => {
    const { world, provider, workspace } = await startEdited();
    const restarted = await world.restart();
    writeFileSync(join(workspace.root, "a.txt"), "changed\n");
    const content = [{ type: "text", text: "Go on" }] as const;
    await restarted.send({ type: "inject", mode: "queue", content });
    await restarted.waitForEvent("turn.finished", 2);
    expect(readLastTexts(provider)).toEqual(["Go on", expect.stringContaining('"a.txt"')]);
  });

  it("A change during a turn is named with the next request of the same turn, and the agent's own edits are not", async () => {
    const workspace = createTestWorkspace();
    workspace.write("a.txt", "one\n");
    const edit = createTool({ name: "edit_outside" }, () => {
      writeFileSync(join(workspace.root, "a.txt"), "changed\n");
      return "done";
    });
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "read_file", input: { path: "a.txt" } }),
      wants({ id: "c2", name: "write_file", input: { path: "b.txt", content: "two\n" } }),
      wants({ id: "c3", name: "edit_outside" }),
      says("Done."),
    ]);
    const agent = defineAgent({
      name: "demo",
      provider,
      tools: [...workspace.tools.values(), edit],
      approvals: { default: "allow" },
      workspace: { root: workspace.root, protectedFolders: [workspace.data] },
    });
    const world = await openWorld(agent);
    await runTurn(world, 1);
    const texts = provider.invocations.map(({ input }) => Object(input).texts ?? []);
    expect(texts).toEqual([
      ["Turn 1"],
      [],
      [],
      [expect.stringMatching(/\[changed_files\] Files changed .*: "a\.txt"\./)],
    ]);
    await runTurn(world, 2);
    expect(readLastTexts(provider)).toEqual(["Turn 2"]);
  });

  it("An agent that opts out is not reminded", async () => {
    const { world, provider, workspace } = await startEdited({ changedFiles: false });
    writeFileSync(join(workspace.root, "a.txt"), "changed\n");
    await runTurn(world, 2);
    expect(readLastTexts(provider)).toEqual(["Turn 2"]);
  });
});
