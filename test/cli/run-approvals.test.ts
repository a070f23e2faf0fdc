import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import {
  says,
  startModelServer,
  wants,
  type ScriptedResponse,
} from "../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

let count = 0;

/** Starts a run in its own workspace, with a terminal. */
async function asked(
  answers: readonly ScriptedResponse[],
  agent: object = {},
  flags: string[] = [],
  isTerminal = true,
) {
  const model = await startModelServer("chat", answers);
  const root = join(command.folder, `asked-${(count += 1)}`);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
  execFileSync("mkfifo", [join(root, "asked")]);
  const coder = {
    provider: { type: "local", model: "openai:scripted" },
    environment: { OPENAI_BASE_URL: `${model.url}/v1` },
    workspace: true,
    ...agent,
  };
  const config = join(root, "spanline.config.json");
  writeFileSync(config, JSON.stringify({ agents: { coder } }));
  const child = command.start(
    ["run", "Go", "--config", config, "--data-dir", join(root, ".data"), ...flags],
    {
      environment: { NO_COLOR: "1", OPENAI_API_KEY: "sk-test", XDG_STATE_HOME: join(root, ".s") },
      workingDirectory: root,
      isTerminal,
    },
  );
  return { root, child, model };
}

const write = (path: string, content = "x\n") => ({
  id: `c-${path}`,
  name: "write_file",
  input: { path, content },
});

describe("A question in the terminal", () => {
  it("Tool output is held back while a question is open", async () => {
    // The allowed command ends only after the question is visible, or after 30 seconds.
    const policy = { rules: [{ allow: { tool: "run_command" } }] };
    const wait = "timeout 30 cat asked; echo; printf 'Run list_%s? [y/N] ' files; touch told";
    const { root, child } = await asked(
      [
        wants(write("b.txt"), { id: "c2", name: "run_command", input: { command: wait } }),
        says("Done."),
      ],
      { policy },
    );
    const before = await waitForOutput(child.stderr, "Run write_file? [y/N] ");
    expect(before).toContain('\n  write_file {"path":"b.txt","content":"x\\n"}\n');
    await writeFile(join(root, "asked"), "");
    await eventually(() => expect(existsSync(join(root, "told"))).toBe(true));
    child.stdin.write("maybe\n");
    const again = await waitForOutput(child.stderr, "Run write_file? [y/N] ");
    const rest = text(child.stderr);
    child.stdin.write("n\n");
    await once(child, "exit");
    // The question was repeated, and only then the result of the command was shown.
    expect(again).toContain("Please answer y or n.");
    expect(again).not.toContain("run_command");
    const after = await rest;
    // Tool output never starts a line.
    expect(after).toMatch(/^ {4,}.*Run list_files/m);
    expect(after).not.toMatch(/^Run list_files/m);
    expect(existsSync(join(root, "b.txt"))).toBe(false);
  });

  it("Input typed before the question does not answer it", async () => {
    const { root, child } = await asked([wants(write("b.txt")), says("Done.")]);
    child.stdin.write("y\ny");
    await waitForOutput(child.stderr, "[y/N]");
    child.stdin.write("n\n");
    await once(child, "exit");
    expect(existsSync(join(root, "b.txt"))).toBe(false);
  });

  it("An invalid answer repeats the question, and three invalid answers deny", async () => {
    const { root, child } = await asked([wants(write("b.txt")), says("Done.")]);
    await waitForOutput(child.stderr, "[y/N]");
    for (const answer of ["sure\n", "what\n"]) {
      child.stdin.write(answer);
      expect(await waitForOutput(child.stderr, "[y/N]")).toContain("── Spanline asks ──");
    }
    const rest = text(child.stderr);
    child.stdin.write("yy\n");
    await once(child, "exit");
    expect(await rest).toContain("treated as no");
    expect(existsSync(join(root, "b.txt"))).toBe(false);
  });

  it("Ctrl-D denies and ends the line", async () => {
    const { root, child } = await asked([wants(write("b.txt")), says("Done.")]);
    await waitForOutput(child.stderr, "[y/N]");
    const rest = text(child.stderr);
    child.stdin.write("\u0004");
    await once(child, "exit");
    expect(await rest).toMatch(/^[^\n]*\n {2}← failed write_file/);
    expect(existsSync(join(root, "b.txt"))).toBe(false);
  });

  it("The reason is shown even if the default asks", async () => {
    const { child } = await asked([wants(write("b.txt")), says("Done.")], { policy: {} });
    expect(await waitForOutput(child.stderr, "[y/N]")).toContain(
      '── Spanline asks ──\n  write_file {"path":"b.txt","content":"x\\n"}\n  Why: No rule matches write_file; the default is to ask\n',
    );
  });

  it("A large file is shown shortened, and in full after d", async () => {
    const lines = Array.from({ length: 300 }, (_, at) => `line number ${at}`);
    lines[299] = "rm -rf the end";
    const { root, child } = await asked([
      wants(write("b.txt", `${lines.join("\n")}\n`)),
      says("Done."),
    ]);
    const short = await waitForOutput(child.stderr, "[y/N/d]");
    expect(short.match(/line number 3\b/g)).toHaveLength(1 + 2);
    expect(short).toContain("… 280 more lines");
    expect(short).not.toContain("the end");
    child.stdin.write("d\n");
    const whole = await waitForOutput(child.stderr, "[y/N/d]");
    expect(whole).toContain("  + line number 250\n");
    expect(whole).toContain("  + rm -rf the end\n");
    child.stdin.write("y\n");
    await once(child, "exit");
    expect(readFileSync(join(root, "b.txt"), "utf8")).toContain("rm -rf the end");
  });

  it("A long command without a diff shows both ends", async () => {
    const long = `echo ${"a ".repeat(2000)}; rm -rf the-end`;
    const call = { id: "c1", name: "run_command", input: { command: long } };
    const { child } = await asked([wants(call), says("Done.")]);
    const short = await waitForOutput(child.stderr, "[y/N/d]");
    expect(short).toMatch(
      /\n {2}run_command \{"command":"echo a a .* more characters … .*rm -rf the-end"\}\n/,
    );
    child.stdin.write("n\n");
    await once(child, "exit");
  });

  it("An edit that does not apply is reported as a sentence without a stack trace", async () => {
    const edit = { path: "a.txt", old_text: "three", new_text: "3" };
    const { child } = await asked([
      wants({ id: "c1", name: "edit_file", input: edit }),
      says("Done."),
    ]);
    const question = await waitForOutput(child.stderr, "[y/N]");
    expect(question).toContain("No diff: the change does not apply to the current file.");
    const rest = text(child.stderr);
    child.stdin.write("y\n");
    await once(child, "exit");
    expect(await rest).toContain("  a.txt was not changed: ");
    expect(await rest).not.toMatch(/SpanlineError|^ +at /m);
  });

  it("The warning about unconfined commands is printed once, and the note about storage at the end", async () => {
    const call = { id: "c1", name: "run_command", input: { command: "echo hi" } };
    const [quiet, loud] = await Promise.all([
      asked([says("Done.")], {}, ["--yes"]),
      asked([wants(call, { ...call, id: "c2" }), says("Done.")], {}, ["--yes"]),
    ]);
    const [without, withCommand] = await Promise.all([
      text(quiet.child.stderr),
      text(loud.child.stderr),
    ]);
    expect(without).not.toMatch(/confined|not stored/);
    // With a working sandbox, the warning is absent.
    const said = withCommand.match(/^Commands are not confined/gm) ?? [];
    expect(said.length).toBeLessThanOrEqual(1);
    expect(withCommand).toContain(
      "A run is not stored, so `spanline sessions audit` cannot show it.",
    );
  });

  it("Words of a command that look like files with secrets are listed", async () => {
    const call = { id: "c1", name: "run_command", input: { command: "cat ./.env src/a.txt" } };
    const { child } = await asked([wants(call), says("Done.")], { policy: {} });
    expect(await waitForOutput(child.stderr, "[y/N]")).toContain(
      "  The arguments name files that may contain secrets: ./.env\n",
    );
  });

  it("Invisible and bidirectional characters are escaped", async () => {
    const { child } = await asked([
      wants(write("b\u200b.txt", "a\u202eb\u2060c\n")),
      says("Done."),
    ]);
    const question = (await waitForOutput(child.stderr, "[y/N]")).split("Spanline asks")[1];
    expect(question).toContain("b\\u{200b}.txt (new)");
    expect(question).toContain("+ a\\u{202e}b\\u{2060}c");
  });

  it("A reached budget is asked about, and --yes allows tools but never raises a budget", async () => {
    const policy = { rules: [{ ask: { tool: "write_file" } }] };
    const budgets = { turn: { invocations: 1 } };
    const answers = [wants(write("b.txt")), says("Done.")];
    const person = await asked(answers, { policy, budgets }, ["--yes"]);
    expect(await waitForOutput(person.child.stderr, "Continue? [y/N] ")).toContain(
      "This turn has used 1 of 1 invocation; continue with 1 more invocation?",
    );
    person.child.stdin.write("y\n");
    expect(await text(person.child.stdout)).toContain("Done.");
    expect(existsSync(join(person.root, "b.txt"))).toBe(true);
    const alone = await asked(answers, { policy, budgets }, ["--yes"], false);
    const [errors, [status]] = await Promise.all([
      text(alone.child.stderr),
      once(alone.child, "exit"),
    ]);
    expect(errors).toContain("stopped at the budget, because no terminal is available. Fix: raise");
    expect([status, alone.model.modelRequests.length]).toEqual([1, 1]);
  });
});
