import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject } from "../../src/data/json.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { createRuntimeTools } from "../../src/tools/runtime/runtime-tools.ts";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import { createAgent, ME, openSessions, readUntil } from "../support/session/session-world.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await createCommandLine();
  return () => cli.close();
});

const HANDOFF = { target_persona_or_human: "ada", task: "Check the numbers" };
const DIAGRAM = { kind: "mermaid", title: "Flow \u202e\u001b[31m", spec: "graph TD\nA-->B" };

/** Creates a data directory with one session. The agent of the session makes the tool calls. */
async function createDirectory(calls: readonly (readonly [string, JsonObject])[]) {
  const directory = mkdtempSync(join(tmpdir(), "spanline-artifacts-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const store = await openSqliteStore({ file: join(directory, "sessions.db") });
  const script = calls.map(([name, input], at) => wants({ id: `c${at}`, name, input }));
  const agent = createAgent({
    provider: createScriptedProvider([...script, says("Done.")]),
    tools: createRuntimeTools(["emit_artifact", "emit_handoff"]),
  });
  const sessions = openSessions(store, agent);
  const { sessionId } = await sessions.open({ principal: ME });
  const command = { type: "prompt", content: [{ type: "text", text: "Go" }] } as const;
  await sessions.command(sessionId, command, { principal: ME });
  await readUntil(sessions, sessionId, ({ event }) => event.type === "turn.finished");
  await sessions.close();
  await store.close();
  const run = (...args: readonly string[]) =>
    cli.run(["sessions", "artifacts", ...args, "--data-dir", directory]);
  return { directory, run };
}

describe("spanline sessions artifacts", () => {
  it("Each artifact and each handoff is one line of the list, without control characters", async () => {
    const { run } = await createDirectory([
      ["emit_artifact", DIAGRAM],
      ["emit_handoff", HANDOFF],
    ]);
    const { status, stdout } = await run("latest");
    expect(status).toBe(0);
    expect(stdout).not.toMatch(/[\p{Cf}\u202e]/u);
    const [diagram, handoff, ...more] = stdout.trimEnd().split("\n");
    expect(diagram).toMatch(/^artifact_\S+ {2}mermaid {2}Flow .* {2}26 bytes$/);
    expect(handoff).toMatch(/^artifact_\S+ {2}handoff {2}Check the numbers$/);
    expect(more).toEqual([]);
    const { artifacts } = JSON.parse((await run("latest", "--json")).stdout);
    expect(artifacts).toMatchObject([{ kind: "mermaid" }, { kind: "handoff", sizeBytes: null }]);
  });

  it("All artifacts or one artifact are saved as private files, and no file is replaced", async () => {
    const { directory, run } = await createDirectory([
      ["emit_artifact", DIAGRAM],
      ["emit_handoff", HANDOFF],
    ]);
    const folder = join(directory, "saved");
    expect((await run("latest", "--output", folder)).status).toBe(0);
    const names = readdirSync(folder).toSorted();
    expect(names).toHaveLength(2);
    const diagram = names.find((name) => name.endsWith(".mmd")) ?? "";
    const handoff = names.find((name) => name.endsWith(".json")) ?? "";
    expect(readFileSync(join(folder, diagram), "utf8")).toBe("graph TD\nA-->B");
    expect(JSON.parse(readFileSync(join(folder, handoff), "utf8"))).toMatchObject({
      _type: "handoff_artifact",
      task: "Check the numbers",
    });
    expect(statSync(join(folder, diagram)).mode & 0o777).toBe(0o600);
    writeFileSync(join(folder, diagram), "mine");
    rmSync(join(folder, handoff));
    const again = await run("latest", "--output", folder);
    expect(again.status).toBe(2);
    expect(again.stderr).toContain(
      `Cannot write ${join(folder, diagram)}: the file exists with other content. Fix: move the file`,
    );
    expect(readFileSync(join(folder, diagram), "utf8")).toBe("mine");
    expect(readdirSync(folder).toSorted()).toEqual(names);
    const single = join(directory, "single");
    expect((await run("latest", diagram.slice(0, -4), "--output", single)).status).toBe(0);
    expect(readdirSync(single)).toEqual([diagram]);
  });

  it("Files that were saved before are kept, and saving again succeeds", async () => {
    const { directory, run } = await createDirectory([["emit_artifact", DIAGRAM]]);
    const folder = join(directory, "saved");
    await run("latest", "--output", folder);
    const again = await run("latest", "--output", folder);
    expect(again.status).toBe(0);
    expect(again.stderr).toMatch(/^1 artifact of ses_\w+ in .*, 1 of them already there\n$/);
  });

  it("A session without artifacts and an unknown artifact are reported", async () => {
    const { run } = await createDirectory([]);
    expect(await run("latest")).toMatchObject({
      status: 0,
      stdout: "The session has no artifacts\n",
    });
    const unknown = await run("latest", "artifact_x");
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toMatch(
      /^Artifact "artifact_x" does not exist in (ses_\w+)\. Fix: list the artifacts with `spanline sessions artifacts \1`\n$/,
    );
  });
});
