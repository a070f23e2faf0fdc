import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";
import { EVENT_STREAM, startPeer, encodeTextDelta } from "../support/server/scripted-peer.ts";
import { encodeAwsFrame } from "../support/server/scripted-peer.ts";

const root = join(import.meta.dirname, "../..");
const SESSION = ["--session", "c".repeat(40)];

let command: CommandLine;
let folder: string;
beforeAll(async () => {
  command = await createCommandLine();
  folder = command.folder;
  return () => command.close();
});

function run(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  return command.run(args, { environment });
}

/** Starts `spanline emulate` in a separate process. */
async function emulator(...args: readonly string[]) {
  const child = command.start(["emulate", "--port", "0", "--json", ...args]);
  const [line] = await once(child.stdout, "data");
  const { url, harness, runtime } = JSON.parse(String(line));
  return { child, url: String(url), harness: String(harness), runtime: String(runtime) };
}

describe("spanline invoke and spanline emulate", () => {
  it("An invocation of the emulator needs no account, and only the response goes to stdout", async () => {
    const { url, harness, runtime } = await emulator();
    const { stdout, stderr, status } = await run(
      ["invoke", "--harness", harness, "My name is Ada"],
      { AWS_ENDPOINT_URL: url },
    );
    expect([stdout, status]).toEqual(["Nice to meet you, Ada. I will remember your name.\n", 0]);
    const [, session = ""] = /^session (\S+)$/m.exec(stderr) ?? [];
    expect(stderr).toContain("completed (end_turn)");
    const again = ["--endpoint-url", url, "--harness", harness, "--session", session];
    const recalled = await run(["invoke", ...again, "What is my name?"]);
    expect(recalled.stdout).toContain("Ada");
    const strands = await run(["invoke", "--endpoint-url", url, "--runtime", runtime, "Hello"]);
    expect([strands.status, strands.stdout.length > 5]).toEqual([0, true]);
  });

  it("invoke writes events, items or raw bytes, and inspect reads the raw bytes", async () => {
    const { url, harness } = await emulator();
    const common = ["invoke", "--endpoint-url", url, "--harness", harness, "Hello"];
    const events = await run([...common, "--json"]);
    const types = events.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).type);
    expect([types[0], types.at(-1)]).toEqual(["message.start", "end"]);
    expect(events.stderr).toMatch(/^session \S+\n$/);
    const items = await run([...common, "--format", "open-responses"]);
    const [message] = JSON.parse(items.stdout).items;
    expect(message).toMatchObject({ type: "message", id: expect.stringMatching(/^msg_.{36}_0$/) });
    const others = await run([...common, "--format", "open-responses"]);
    expect(JSON.parse(others.stdout).items[0].id).not.toBe(message.id);
    await run([...common, "--raw", "answer.bin"]);
    const unkept = await run([...common, "--raw", "nowhere/answer.bin"]);
    expect([unkept.status, unkept.stdout]).toEqual([2, ""]);
    expect(unkept.stderr).toContain("no such folder");
    const typo = ["invoke", "--harness", "arn:typo", "Hello", "--raw", "answer.bin"];
    expect((await run(typo)).status).toBe(2);
    const trace = await run(["inspect", "answer.bin"]);
    expect([trace.status, trace.stdout]).toEqual([0, expect.stringContaining("completed")]);
  });

  it("A harness is found by name, id or tag, and its ARN is printed", async () => {
    const { url, harness } = await emulator();
    const at = { AWS_ENDPOINT_URL: url };
    const byName = await run(["invoke", "--harness", "demo", "Hello"], at);
    expect([byName.status, byName.stderr]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^harness ${harness}\nsession `)),
    ]);
    const byId = await run(["invoke", "--harness", "demo-spanline00", "Hello"], at);
    expect([byId.status, byId.stdout]).toEqual([0, byName.stdout]);
    const role = "arn:aws:iam::123456789012:role/agent";
    const create = ["harness", "create", "--name", "support", "--role", role];
    const made = await run([...create, "--tag", "live", "--endpoint", "stable", "--json"], at);
    const tagged = await run(["invoke", "--harness", "support:live", "Hello"], at);
    expect([tagged.status, tagged.stderr]).toEqual([
      0,
      expect.stringContaining(`harness ${JSON.parse(made.stdout).arn}\n`),
    ]);
    const untagged = await run(["invoke", "--harness", "support:dead", "Hello"], at);
    expect([untagged.status, untagged.stderr]).toEqual([
      2,
      expect.stringContaining('Harness tag "support:dead" does not exist'),
    ]);
  });

  it.each(["demi", "dem", "demo-spanline99"])(
    "An unknown harness %s is reported with similar names",
    async (meant) => {
      const { url } = await emulator();
      const unknown = await run(["invoke", "--endpoint-url", url, "--harness", meant, "Hello"]);
      expect(unknown).toEqual({
        status: 1,
        stdout: "",
        stderr: `Harness "${meant}" does not exist at ${url}: expected "demo". Fix: did you mean "demo"?\n`,
      });
    },
  );

  it("A name refers to the harness that is not being deleted, and two active harnesses are refused", async () => {
    const answer = [harnessOf("twin", "a", "READY"), harnessOf("twin", "b", "READY")];
    const leaving = [harnessOf("lone", "a", "DELETING"), harnessOf("lone", "b", "READY")];
    const peer = await startPeer((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ harnesses: [...answer, ...leaving] }));
    });
    const at = ["invoke", "--endpoint-url", peer.url];
    const twin = await run([...at, "--harness", "twin", "Hello"]);
    expect([twin.status, twin.stderr]).toEqual([
      2,
      `Several harnesses are named twin: ${answer[0]?.arn}, ${answer[1]?.arn}. Fix: use an ARN\n`,
    ]);
    const lone = await run([...at, "--harness", "lone", "Hello"]);
    expect(lone.stderr).toContain(`harness ${leaving[1]?.arn}\n`);
  });

  it("A lookup without permission is refused with the advice to use the ARN", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(403, { "x-amzn-errortype": "AccessDeniedException" });
      response.end('{"message":"not you"}');
    });
    const refused = await run(["invoke", "--endpoint-url", peer.url, "--harness", "demo", "Hello"]);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^Cannot look up the harness demo: AccessDeniedException: not you\. Fix: use its ARN, which needs no lookup/,
      ),
    ]);
  });

  it("Results of open tool calls are sent from a capture or a recording, in one invocation each", async () => {
    const recordings = join(folder, "recordings");
    const { url } = await emulator("--record", recordings);
    const tools = [
      {
        name: "refund",
        description: "Pays money back",
        schema: { type: "object", properties: { order: { type: "string" } } },
      },
    ];
    writeFileSync(join(folder, "tools.json"), JSON.stringify(tools));
    const role = ["--role", "arn:aws:iam::123456789012:role/agent"];
    const at = { AWS_ENDPOINT_URL: url };
    await run(["harness", "create", "--name", "shop", ...role, "--tools", "tools.json"], at);
    const shop = ["invoke", "--harness", "shop", ...SESSION];
    const first = await run([...shop, "Refund order 7", "--raw", "turn.bin"], at);
    const [, id = ""] = /^waits for (\S+)$/m.exec(first.stderr) ?? [];
    expect(first.stderr).toContain(`answer with ${SESSION.join(" ")} --answers turn.bin --result`);
    const answers = [...shop, "--answers", "turn.bin"];
    const missing = await run([...answers, "--result", "other=paid"], at);
    expect([missing.status, missing.stderr]).toEqual([
      2,
      expect.stringContaining(
        `no result for ${id}; no open tool call with the id: other\nFix: add one --result`,
      ),
    ]);
    writeFileSync(join(folder, "result.txt"), "paid, with = and @");
    const paid = await run([...answers, "--result", `${id}=@result.txt`, "--raw", "turn.bin"], at);
    expect(paid.stdout).toBe("Done. refund says: paid, with = and @.\n");
    const over = await run([...answers, "--result", `${id}=paid`], at);
    expect(over.stderr).toBe(
      "The turn in turn.bin does not wait for a result: its outcome is completed\n",
    );
    const again = await run([...shop, "Refund order 8", "--format", "json"], at);
    const [call] = JSON.parse(again.stdout).toolCalls;
    const recordedFiles = readdirSync(recordings).map((name) => join(recordings, name));
    const turns = await Promise.all(
      recordedFiles.map(async (file) => run(["inspect", file, "--json"])),
    );
    const open = turns.findIndex(({ stdout }) => JSON.parse(stdout).toolCalls[0]?.id === call.id);
    const failed = [
      ...shop,
      "--answers",
      recordedFiles[open] ?? "",
      "--error-result",
      `${call.id}=gone`,
    ];
    const failedRun = await run(failed, at);
    expect([failedRun.status, failedRun.stdout]).toEqual([0, expect.stringContaining("gone")]);
    const inspectedRun = await run(["inspect", recordedFiles[open] ?? ""]);
    expect(inspectedRun.stdout).toMatch(
      new RegExp(`^recording 1 of session ${SESSION[1]} \\(application/vnd.*\nassistant\n`),
    );
  });

  it("An emulator refuses the data directory of another emulator", async () => {
    const data = join(folder, "shared");
    const { child } = await emulator("--data-dir", data);
    const second = await run(["emulate", "--port", "0", "--data-dir", data]);
    expect([second.status, second.stderr]).toEqual([
      2,
      expect.stringContaining(`in use by process ${child.pid}`),
    ]);
  });

  it("The emulator keeps its sessions across a kill [AC-88]", async () => {
    const data = join(folder, "data");
    const first = await emulator("--data-dir", data);
    const session = ["--session", "s".repeat(40)];
    const at = (url: string) => ["invoke", "--endpoint-url", url, "--harness", first.harness];
    await run([...at(first.url), ...session, "My name is Ada"]);
    first.child.kill("SIGKILL");
    await once(first.child, "exit");
    const second = await emulator("--data-dir", data);
    const { stdout } = await run([...at(second.url), ...session, "What is my name?"]);
    expect(stdout).toContain("Ada");
  });

  it.each([
    [["invoke", "hello"], "No agent is named"],
    [["invoke", "--harness", HARNESS()], "The prompt is missing"],
    [
      ["invoke", "--harness", "arn:demo", "hello"],
      '--harness is "arn:demo": expected the ARN of a',
    ],
    [["invoke", "--harness", "demo", "hello"], "No region is set. Fix: pass --region"],
    [["invoke", "--harness", HARNESS(), "--region", "eu-west-1", "hello"], "is in us-east-1"],
    [["invoke", "--harness", HARNESS(), "--session", "short", "hello"], '--session is "short"'],
    [["invoke", "--harness", HARNESS(), "--system-prompt", "", "hello"], '--system-prompt is ""'],
    [["invoke", "--harness", HARNESS(), "--endpoint-url", "here", "hello"], "--endpoint-url is"],
    [["invoke", "--harness", HARNESS(), "--result", "a=b"], "A result needs --answers FILE"],
    [["invoke", "--harness", HARNESS(), "--answers", "turn.bin"], "--answers needs --session"],
    [["invoke", "--harness", HARNESS(), ...SESSION, "--answers", "none.bin"], "no such file"],
    [["invoke", "--runtime", HARNESS(), ...SESSION, "--answers", "turn.bin"], "cannot be used"],
    [["invoke", "--harness", HARNESS(), " "], "Cannot send an empty message"],
    [
      ["invoke", "--harness", HARNESS(), "--max-tokens", "-1", "hello"],
      "an integer greater than 0",
    ],
    [
      ["invoke", "--runtime", HARNESS(), "--model", "m", "hello"],
      "--model applies only to a harness",
    ],
    [["emulate", "--switch", "nothing=1"], 'Key "switches.nothing" does not exist'],
    [["emulate", "--host", "192.0.2.1"], "loopback"],
  ])(
    "The invalid command line %j is refused with one clear line and exit code 2",
    async (args, words) => {
      const { status, stdout, stderr } = await run(args);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toContain(words);
      expect(stderr).not.toContain("    at ");
    },
  );

  it("Without a server or without credentials, the error names the next step", async () => {
    const nobody = await run([
      "invoke",
      "--endpoint-url",
      "http://127.0.0.1:9",
      "--harness",
      HARNESS(),
      "hello",
    ]);
    expect(nobody.status).toBe(1);
    expect(nobody.stderr).toContain("`spanline emulate` starts an emulator");
    // The AWS SDK reads the variables of the process.
    const nameless = await command.runProcess(["invoke", "--harness", HARNESS(), "hello"]);
    expect(nameless.status).toBe(1);
    expect(nameless.stderr).toContain("AWS_PROFILE");
    const { url } = await emulator();
    const taken = await run(["emulate", "--port", new URL(url).port]);
    expect([taken.status, taken.stderr]).toEqual([1, expect.stringContaining("is already in use")]);
  });

  it("Ctrl-C closes the connection of an invocation and ends the emulator", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(200, { "content-type": EVENT_STREAM });
      response.write(
        Buffer.concat([
          encodeAwsFrame("messageStart", { role: "assistant" }),
          encodeTextDelta("Once "),
        ]),
      );
    });
    const child = command.start([
      "invoke",
      "--endpoint-url",
      peer.url,
      "--harness",
      HARNESS(),
      "hello",
    ]);
    await once(child.stdout, "data");
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    await peer.waitUntilQuiet();
    const { child: server } = await emulator();
    server.kill("SIGINT");
    expect(await once(server, "exit")).toEqual([0, null]);
  });
});

describe("docs/harness.md", () => {
  it("The commands in docs/harness.md print the shown output, except for ids and times", async () => {
    const page = readFileSync(join(root, "docs/harness.md"), "utf8");
    const [yaml = ""] = blocks(page, "yaml");
    const { url } = await emulator();
    const place = mkdtempSync(join(folder, "page-"));
    writeFileSync(join(place, "support.yaml"), yaml);
    const environment = { SPANLINE_DATA_DIR: join(place, "data"), AWS_ENDPOINT_URL: url };
    const commands = blocks(page, "console").flatMap((block) => block.split(/^\$ /m).slice(1));
    expect(commands.length).toBeGreaterThan(15);
    for (const shownCommand of commands) {
      const [line = "", ...lines] = shownCommand.trimEnd().split("\n");
      const args = splitWords(line);
      const { stdout, stderr } = await command.run(args, { environment, workingDirectory: place });
      const printed = masked(stdout + stderr).split("\n");
      const expectedOutput = masked(lines.join("\n").replaceAll("http://127.0.0.1:4780", url));
      const isPart = (part: string): boolean => part === "…" || printed.includes(part);
      expect({
        line,
        missing: expectedOutput.split("\n").filter((part) => !isPart(part)),
        printed,
      }).toEqual({
        line,
        missing: [],
        printed,
      });
    }
  });
});

function blocks(page: string, language: string): string[] {
  const fence = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms");
  return [...page.matchAll(fence)].map((match) => match[1] ?? "");
}

/** Splits a command line of the page, which uses double quotes as its only shell syntax. */
function splitWords(line: string): string[] {
  const [program, ...args] = [...line.matchAll(/"([^"]*)"|([^\s"$|>;&]+)/g)].map(
    ([word, quoted]) => quoted ?? word,
  );
  expect(program).toBe("spanline");
  return args;
}

/** Masks values of a single run, such as ids and times. */
function masked(printed: string): string {
  return printed
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b(\w+)-[a-zA-Z0-9]{10}\b/g, "$1-ID")
    .replaceAll(/^session .*$/gm, "session ID")
    .replaceAll(/in \d+ s\./g, "in 0 s.");
}

function harnessOf(name: string, letter: string, status: string) {
  const id = `${name}-${letter.repeat(10)}`;
  const arn = `arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/${id}`;
  return { harnessId: id, harnessName: name, arn, status, harnessVersion: "1" };
}

function HARNESS(): string {
  return "arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/demo-spanline00";
}
