import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVENT_STREAM, startPeer, textDelta } from "./support/peer.ts";
import { awsFrame } from "./support/peer.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "spanline-agentcore-"));
const main = join(folder, "main.mjs");
const children: ChildProcess[] = [];

beforeAll(async () => {
  const bundle = await rolldown({
    input: join(root, "src/cli/main.ts"),
    platform: "node",
    external: [/^[^./]/],
    logLevel: "silent",
  });
  await bundle.write({ dir: folder, entryFileNames: "main.mjs", format: "esm" });
  await bundle.close();
  writeFileSync(join(folder, "package.json"), readFileSync(join(root, "package.json")));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
});

afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

function start(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const clean = { PATH: process.env["PATH"], HOME: folder, AWS_EC2_METADATA_DISABLED: "true" };
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...clean, ...env },
    cwd: folder,
  });
  children.push(child);
  return child;
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = start(args, env);
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  return { stdout, stderr, status: status as number };
}

/** `spanline emulate` in a process of its own. */
async function emulator(...args: readonly string[]) {
  const child = start(["emulate", "--port", "0", "--json", ...args]);
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
    expect(JSON.parse(items.stdout).items[0]).toMatchObject({ type: "message" });
    await run([...common, "--raw", "answer.bin"]);
    const unkept = await run([...common, "--raw", "nowhere/answer.bin"]);
    expect([unkept.status, unkept.stdout]).toEqual([2, ""]);
    expect(unkept.stderr).toContain("there is no such folder");
    const typo = ["invoke", "--harness", "arn:typo", "Hello", "--raw", "answer.bin"];
    expect((await run(typo)).status).toBe(2);
    const trace = await run(["inspect", "answer.bin"]);
    expect([trace.status, trace.stdout]).toEqual([0, expect.stringContaining("completed")]);
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
    [["invoke", "--harness", "demo", "hello"], 'harnessArn is "demo", wanted the ARN of a harness'],
    [["invoke", "--harness", HARNESS(), "--session", "short", "hello"], 'sessionId is "short"'],
    [["invoke", "--harness", HARNESS(), " "], "Cannot send an empty message"],
    [["invoke", "--harness", HARNESS(), "--max-tokens", "-1", "hello"], "whole number above 0"],
    [["invoke", "--runtime", HARNESS(), "--model", "m", "hello"], "model is for a harness"],
    [["emulate", "--switch", "nothing=1"], 'There is no switch "nothing"'],
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
    const nameless = await run(["invoke", "--harness", HARNESS(), "hello"]);
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
        Buffer.concat([awsFrame("messageStart", { role: "assistant" }), textDelta("Once ")]),
      );
    });
    const child = start(["invoke", "--endpoint-url", peer.url, "--harness", HARNESS(), "hello"]);
    await once(child.stdout, "data");
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    await peer.quiet();
    const { child: server } = await emulator();
    server.kill("SIGINT");
    expect(await once(server, "exit")).toEqual([0, null]);
  });
});

function HARNESS(): string {
  return "arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/demo-spanline00";
}
