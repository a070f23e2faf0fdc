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

/** `spanline emulate` in a process of its own. */
async function emulator(...args: readonly string[]) {
  const child = command.start(["emulate", "--port", "0", "--json", ...args]);
  const [line] = await once(child.stdout, "data");
  const { url, harness, runtime } = JSON.parse(String(line));
  return { child, url: String(url), harness: String(harness), runtime: String(runtime) };
}

describe("spanline invoke and spanline emulate", () => {
  it("talk to each other without an account: the answer on stdout, the rest on stderr", async () => {
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

  it("writes events, items, and the bytes as they came, which inspect reads", async () => {
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
    expect(unkept.stderr).toContain("there is no such folder");
    const typo = ["invoke", "--harness", "arn:typo", "Hello", "--raw", "answer.bin"];
    expect((await run(typo)).status).toBe(2);
    const trace = await run(["inspect", "answer.bin"]);
    expect([trace.status, trace.stdout]).toEqual([0, expect.stringContaining("completed")]);
  });

  it("find a harness by its name, its id or its tag, and say which", async () => {
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
      expect.stringContaining("support:dead: no harness has this tag"),
    ]);
  });

  it.each(["demi", "dem", "demo-spanline99"])("list names that are near to %s", async (meant) => {
    const { url } = await emulator();
    const unknown = await run(["invoke", "--endpoint-url", url, "--harness", meant, "Hello"]);
    expect(unknown).toEqual({
      status: 1,
      stdout: "",
      stderr:
        `There is no harness ${meant} at ${url}; similar names are demo\n` +
        "`spanline harness list` shows what there is; --region says where to look.\n",
    });
  });

  it("take a name for the harness that is there, and refuse it where two are", async () => {
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
      `Several harnesses are named twin: ${answer[0]?.arn}, ${answer[1]?.arn}; give the ARN of one\n`,
    ]);
    const lone = await run([...at, "--harness", "lone", "Hello"]);
    expect(lone.stderr).toContain(`harness ${leaving[1]?.arn}\n`);
  });

  it("say that an ARN needs no look where looking is not allowed", async () => {
    const peer = await startPeer((response) => {
      response.writeHead(403, { "x-amzn-errortype": "AccessDeniedException" });
      response.end('{"message":"not you"}');
    });
    const refused = await run(["invoke", "--endpoint-url", peer.url, "--harness", "demo", "Hello"]);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^Cannot look for the harness demo: AccessDeniedException: not you\. Its ARN needs no look/,
      ),
    ]);
  });

  it("bring the results of open calls, from a capture or a recording, in one call each", async () => {
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
      expect.stringContaining(`no result for ${id}; no such open call: other\nGive one --result`),
    ]);
    writeFileSync(join(folder, "result.txt"), "paid, with = and @");
    const paid = await run([...answers, "--result", `${id}=@result.txt`, "--raw", "turn.bin"], at);
    expect(paid.stdout).toBe("Done. refund says: paid, with = and @.\n");
    const over = await run([...answers, "--result", `${id}=paid`], at);
    expect(over.stderr).toBe("The turn in turn.bin waits for no result: it is completed\n");
    const again = await run([...shop, "Refund order 8", "--format", "json"], at);
    const [call] = JSON.parse(again.stdout).toolCalls;
    const kept = readdirSync(recordings).map((name) => join(recordings, name));
    const turns = await Promise.all(kept.map(async (file) => run(["inspect", file, "--json"])));
    const open = turns.findIndex(({ stdout }) => JSON.parse(stdout).toolCalls[0]?.id === call.id);
    const failed = [...shop, "--answers", kept[open] ?? "", "--error-result", `${call.id}=gone`];
    const told = await run(failed, at);
    expect([told.status, told.stdout]).toEqual([0, expect.stringContaining("gone")]);
    const shown = await run(["inspect", kept[open] ?? ""]);
    expect(shown.stdout).toMatch(
      new RegExp(`^recording 1 of session ${SESSION[1]} \\(application/vnd.*\nassistant\n`),
    );
  });

  it("refuses a data directory that another one uses", async () => {
    const data = join(folder, "shared");
    const { child } = await emulator("--data-dir", data);
    const second = await run(["emulate", "--port", "0", "--data-dir", data]);
    expect([second.status, second.stderr]).toEqual([
      2,
      expect.stringContaining(`in use by process ${child.pid}`),
    ]);
  });

  it("keeps sessions over a kill [AC-88]", async () => {
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
    [["invoke", "hello"], "Name one agent"],
    [["invoke", "--harness", HARNESS()], "There is nothing to say"],
    [["invoke", "--harness", "arn:demo", "hello"], '--harness is "arn:demo", wanted the ARN of a'],
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
    [["invoke", "--harness", HARNESS(), "--max-tokens", "-1", "hello"], "whole number above 0"],
    [["invoke", "--runtime", HARNESS(), "--model", "m", "hello"], "--model is for a harness"],
    [["emulate", "--switch", "nothing=1"], '"nothing" is not a valid switch'],
    [["emulate", "--host", "192.0.2.1"], "loopback"],
  ])("refuse what they cannot use with one clear line and exit code 2: %j", async (args, words) => {
    const { status, stdout, stderr } = await run(args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("    at ");
  });

  it("say what to do next when nobody is there, or no credentials are", async () => {
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
    expect([taken.status, taken.stderr]).toEqual([1, expect.stringContaining("is taken")]);
  });

  it("stop at Ctrl-C: the call closes its connection, the emulator ends", async () => {
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
  it("prints what its commands print, but for ids and times", async () => {
    const page = readFileSync(join(root, "docs/harness.md"), "utf8");
    const [yaml = ""] = blocks(page, "yaml");
    const { url } = await emulator();
    const place = mkdtempSync(join(folder, "page-"));
    writeFileSync(join(place, "support.yaml"), yaml);
    const environment = { SPANLINE_DATA_DIR: join(place, "data"), AWS_ENDPOINT_URL: url };
    const commands = blocks(page, "console").flatMap((block) => block.split(/^\$ /m).slice(1));
    expect(commands.length).toBeGreaterThan(15);
    for (const shown of commands) {
      const [line = "", ...lines] = shown.trimEnd().split("\n");
      const args = splitWords(line);
      const { stdout, stderr } = await command.run(args, { environment, workingDirectory: place });
      const printed = masked(stdout + stderr).split("\n");
      const wanted = masked(lines.join("\n").replaceAll("http://127.0.0.1:4780", url));
      const isPart = (part: string): boolean => part === "…" || printed.includes(part);
      expect({
        line,
        missing: wanted.split("\n").filter((part) => !isPart(part)),
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

/** The arguments of a command line of the page, which uses no shell syntax but double quotes. */
function splitWords(line: string): string[] {
  const [program, ...args] = [...line.matchAll(/"([^"]*)"|([^\s"$|>;&]+)/g)].map(
    ([word, quoted]) => quoted ?? word,
  );
  expect(program).toBe("spanline");
  return args;
}

/** What is another each time. */
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
