import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { emulate, type EmulateOptions } from "../../src/emulator/index.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

let cli: CommandLine;

const RAIN = "What is the weather in Bergen?";
const NOTE = "Please save a note: buy milk";
const DONE = /^Let me use save_note for that\.\n\nDone\. save_note says: Saved in /;

beforeAll(async () => {
  cli = await createCommandLine();
  // Installs the package where a user's tools module finds it.
  await cli.bundle("index.ts", "project/node_modules/spanline/index.mjs");
  const manifest = { name: "spanline", type: "module", exports: "./index.mjs" };
  const file = join(cli.folder, "project/node_modules/spanline/package.json");
  writeFileSync(file, JSON.stringify(manifest));
  return () => cli.close();
});

/** Creates a tools module in a folder with the package. */
function toolsFile(name: string, code: string): string {
  const folder = join(cli.folder, "project");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  writeFileSync(file, `import { defineTool } from "spanline";\n${code}`);
  return file;
}

async function emulator(options: EmulateOptions = {}) {
  const emulated = await emulate(options);
  onTestFinished(() => emulated.close());
  return ["--harness", emulated.demoArn, "--endpoint-url", emulated.url];
}

/** Starts an emulator with a scripted agent. */
async function scripted(scenario: string) {
  const file = join(cli.folder, `scenario-${scenario.length}.yaml`);
  writeFileSync(file, scenario);
  return emulator({ brain: `script:${file}` });
}

describe("spanline run", () => {
  it("run uses the demo agent by default, and only its text goes to stdout", async () => {
    const { stdout, stderr, status } = await cli.run(["run", "Hello"]);
    expect([stdout, status]).toEqual([expect.stringMatching(/^Hello! I am the demo agent/), 0]);
    expect(stderr).toMatch(/^\ncompleted \(end_turn\) · 1 message/);
  });

  it("With --yes every tool runs, and tool calls and results go to stderr", async () => {
    const { stdout, stderr, status } = await cli.run(["run", "--yes", NOTE]);
    expect([stdout, status]).toEqual([expect.stringMatching(DONE), 0]);
    expect(stderr).toContain("→ save_note");
    expect(stderr).toContain('save_note {"text":"buy milk"}: allowed by --yes');
    expect(stderr).toMatch(/← save_note .*\n {4}Saved in/);
    expect(readFileSync(join(cli.folder, "data/notes.txt"), "utf8")).toContain("buy milk");
  });

  it("With --no the tool is denied and the turn is completed", async () => {
    const { stdout, stderr, status } = await cli.run(["run", "--no", NOTE]);
    expect([stdout, status]).toEqual([expect.stringContaining("it was denied"), 0]);
    expect(stderr).toContain("denied by --no");
  });

  it("Without a terminal an approval is denied with a message and exit code 1", async () => {
    const { stderr, status } = await cli.run(["run", NOTE]);
    expect(status).toBe(1);
    expect(stderr).toContain(
      'save_note {"text":"buy milk"}: denied, because no terminal is available. Fix: --yes allows all',
    );
  });

  it.each([
    ["y\n", DONE, 0],
    ["\n", /it was denied/, 0],
  ])(
    "An approval in the terminal shows the tool call and accepts %j",
    async (answer, content, code) => {
      const child = cli.start(["run", NOTE], { isTerminal: true });
      const stdout = text(child.stdout);
      expect(await waitForOutput(child.stderr, "Run save_note? [y/N]")).toContain(
        '\n  save_note {"text":"buy milk"}\n',
      );
      child.stdin.write(answer);
      const [status] = await once(child, "exit");
      expect([await stdout, status]).toEqual([expect.stringMatching(content), code]);
    },
  );

  it("The prompt is read from standard input if piped or named -", async () => {
    const [piped, named] = await Promise.all([
      cli.run(["run"], { input: "My name is Ada\n" }),
      cli.run(["run", "-"], { input: "My name is Ada\n" }),
    ]);
    expect([piped.stdout, named.stdout]).toEqual(
      Array(2).fill("Nice to meet you, Ada. I will remember your name.\n"),
    );
  });

  it("With --json the events of the log are printed, one per line", async () => {
    const { stdout, status } = await cli.run(["run", "--json", "--yes", NOTE]);
    const lines = stdout.trimEnd().split("\n");
    const envelopes = lines.map((line) => JSON.parse(line));
    expect(envelopes.map(({ seq }) => seq)).toEqual(envelopes.map((_, at) => at + 1));
    const types = envelopes.map(({ event }) => event.type);
    expect([types[0], types.at(-1), status]).toEqual(["session.opened", "turn.finished", 0]);
    expect(types).toContain("approval.resolved");
  });

  it("A turn is printed as Open Responses items, including tool calls and outputs", async () => {
    const { stdout } = await cli.run(["run", "--format", "open-responses", "--yes", NOTE]);
    const { status, items } = JSON.parse(stdout);
    expect([status, items.map(({ type }: { type: string }) => type)]).toEqual([
      "completed",
      ["message", "function_call", "function_call_output", "message"],
    ]);
  });

  it("A harness runs with the user's own tools, which also need approvals", async () => {
    const file = toolsFile(
      "weather.mjs",
      `export default [defineTool({
        name: "get_weather",
        description: "Tells the weather of a city",
        input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        run: ({ city }, { workingDirectory }) => ({ city, from: workingDirectory }),
      })];`,
    );
    const where = await emulator();
    const args = ["run", ...where, "--tools", file, "What is the weather in Bergen?"];
    const [allowed, unasked] = await Promise.all([cli.run([...args, "-y"]), cli.run(args)]);
    expect([allowed.status, allowed.stdout]).toEqual([
      0,
      expect.stringContaining(`get_weather says: city: Bergen, from: ${cli.folder}`),
    ]);
    expect([unasked.status, unasked.stderr]).toEqual([
      1,
      expect.stringContaining('get_weather {"city":"Bergen"}: denied'),
    ]);
  });

  it("The person sees where a tool failed; the agent sees only the message", async () => {
    const file = toolsFile(
      "failing.mjs",
      `export default [defineTool({
        name: "get_weather",
        description: "Tells the weather of a city",
        input: { type: "object" },
        run() { throw new Error("The station is down"); },
      })];`,
    );
    const { stdout, stderr, status } = await cli.run(["run", "--tools", file, "-y", RAIN]);
    expect([status, stdout]).toEqual([0, expect.stringContaining("The station is down")]);
    expect(stdout).not.toContain("failing.mjs");
    expect(stderr).toMatch(/Error: The station is down\n +at .*failing\.mjs/);
  });

  it("Ctrl-C cancels the turn even if a tool hangs, cleans up and exits with 130 [RMA-P0-6]", async () => {
    const file = toolsFile(
      "hanging.mjs",
      `export default [defineTool({
        name: "get_weather",
        description: "Tells the weather of a city",
        input: { type: "object" },
        run() {
          process.stderr.write("HANGING");
          setInterval(() => {}, 1000);
          return new Promise(() => {});
        },
      })];`,
    );
    const child = cli.start(["run", "--tools", file, "-y", "What is the weather in Bergen?"]);
    await waitForOutput(child.stderr, "HANGING");
    const rest = text(child.stderr);
    child.kill("SIGINT");
    const [status] = await once(child, "exit");
    expect([status, await rest]).toEqual([130, expect.stringContaining("Cancelling the turn")]);
  });

  it("Ctrl-C at a question exits with 130", async () => {
    const child = cli.start(["run", NOTE], { isTerminal: true });
    await waitForOutput(child.stderr, "[y/N]");
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
  });

  it("A reached limit ends the turn with its name and exit code 1", async () => {
    const where = await scripted(
      "{ repeat: true, turns: [{ answer: [{ call: look }, { usage: { input: 70, output: 30 } }] }] }",
    );
    const [steps, tokens] = await Promise.all([
      cli.run(["run", ...where, "--max-steps", "2", "Look"]),
      cli.run(["run", ...where, "--max-tokens", "150", "Look"]),
    ]);
    expect([steps.status, steps.stderr]).toEqual([
      1,
      expect.stringMatching(/limited \(max_steps\)[^]*Fix: raise --max-steps/),
    ]);
    expect([tokens.status, tokens.stderr]).toEqual([
      1,
      expect.stringContaining("limited (max_tokens)"),
    ]);
  });

  it("A failed turn exits with 1 after its text and the reason [RMA-P1-11]", async () => {
    const where = await scripted(
      "turns: [{ answer: [I am about to, { fail: { type: InternalServerException, message: Oops } }] }]",
    );
    const { status, stdout, stderr } = await cli.run(["run", ...where, "Go"]);
    expect([status, stdout]).toEqual([1, "I am about to\n"]);
    expect(stderr).toContain("Oops");
  });

  it("run ends if the reader of its output closes the pipe", async () => {
    // A closed pipe is noticed only by writing, so the agent continues to write.
    const more = "{ pause: 200 }, More., ".repeat(500);
    const where = await scripted(`turns: [{ answer: [First words., ${more}{ pause: 600000 }] }]`);
    const child = cli.start(["run", ...where, "Go"]);
    await once(child.stdout, "data");
    child.stdout.destroy();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it.each([
    [["run", ""], "The prompt is empty"],
    [["run"], "standard input is empty"],
    [
      ["run", "--endpoint-url", "http://127.0.0.1:1", "Hi"],
      "--endpoint-url requires an AgentCore agent",
    ],
    [["run", "--harness", "arn:typo", "Hi"], "--harness"],
    [["run", "--yes", "--no", "Hi"], "cannot be used with"],
    [["run", "--max-steps", "0", "Hi"], "an integer greater than 0"],
    [["run", "--tools", "nowhere.mjs", "Hi"], "Cannot load nowhere.mjs: no such file\n"],
  ])("run exits with 2 for %j", async (args, problem) => {
    const { status, stdout, stderr } = await cli.run(args);
    expect([status, stdout, stderr]).toEqual([2, "", expect.stringContaining(problem)]);
  });

  // Node's own loader refuses the file; the loader of the test runner would accept such a file.
  it("run exits with 2 for a tools file that is not code", async () => {
    const { status, stdout, stderr } = await cli.runProcess([
      "run",
      "--tools",
      "bin/package.json",
      "Hi",
    ]);
    expect([status, stdout, stderr]).toEqual([
      2,
      "",
      expect.stringContaining("Cannot load bin/package.json"),
    ]);
  });

  it("A tools module without access to the package is refused with a fix", async () => {
    const file = join(cli.folder, "alone.mjs");
    writeFileSync(file, 'import { defineTool } from "spanline";\nexport default [];');
    const { status, stderr } = await cli.run(["run", "--tools", file, "Hi"]);
    expect(status).toBe(2);
    expect(stderr).toContain("Cannot find package 'spanline'");
    expect(stderr).toContain("install spanline in the folder of the file");
  });

  it.each([
    ["export default { tools: [] };", "is not an array of tools"],
    ["export default [{ name: 'look' }];", "default[0] of "],
    ["export default [defineTool({ name: 'two words' })];", '"two words" is not a valid name'],
  ])("run exits with 2 for the tools %j", async (code, problem) => {
    const file = toolsFile(`wrong-${code.length}.mjs`, code);
    const { status, stderr } = await cli.run(["run", "--tools", file, "Hi"]);
    expect([status, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });
});
