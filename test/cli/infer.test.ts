import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { emulate, type EmulateOptions } from "../../src/emulator/index.ts";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";
import {
  encodeAwsFrame,
  startEventStream,
  startPeer,
  encodeTextDelta,
} from "../support/server/scripted-peer.ts";
import { HARNESS_ARN } from "../support/session/provider-session.ts";

let cli: CommandLine;

beforeAll(async () => {
  cli = await createCommandLine();
  return () => cli.close();
});

const KEYS = { AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" };
const HELLO = JSON.stringify({ messages: [{ role: "user", content: "Hello!" }] });

async function emulator(options: EmulateOptions = {}) {
  const emulated = await emulate(options);
  onTestFinished(() => emulated.close());
  return emulated;
}

describe("spanline infer", () => {
  it("infer answers an AI GO! request with the agent named by the environment [OR-74]", async () => {
    const { url, demoArn } = await emulator();
    const environment = { AWS_HARNESS_ARN: demoArn, AWS_ENDPOINT_URL: url, ...KEYS };
    const first = await cli.run(["infer"], { environment, input: HELLO });
    expect([first.status, first.stderr]).toEqual([0, ""]);
    const [reply] = JSON.parse(first.stdout).items;
    expect(reply).toMatchObject({ role: "assistant", session_id: expect.stringMatching(/.{33}/) });
    const messages = [
      { role: "user", content: "Hello!" },
      { role: "assistant", content: reply.content[0].text, session_id: reply.session_id },
      { role: "user", content: "What was the first thing that I said?" },
    ];
    const input = JSON.stringify({ messages, top_k: 1 });
    const second = await cli.run(["infer"], { environment, input });
    expect([second.status, second.stderr]).toEqual([0, "no effect: top_k\n"]);
    expect(JSON.parse(second.stdout).items[0]).toMatchObject({
      session_id: reply.session_id,
      content: [{ text: 'Your first message was: "Hello!"' }],
    });
  });

  it("infer runs an agent of a configuration, whose sessions continue in the next process", async () => {
    const file = join(cli.folder, "infer.config.yaml");
    writeFileSync(file, "agents:\n  helper:\n    provider: { type: demo }\n");
    const args = ["infer", "--config", file, "--agent", "helper"];
    const first = await cli.run(args, { input: HELLO });
    expect([first.status, first.stderr]).toEqual([
      0,
      "tools not offered here: save_note, tell_time; `spanline serve` offers them\n",
    ]);
    const [{ session_id }] = JSON.parse(first.stdout).items;
    const messages = [
      { role: "assistant", content: "Hello!", session_id },
      { role: "user", content: "What was the first thing that I said?" },
    ];
    const second = await cli.run(args, { input: JSON.stringify({ messages }) });
    expect(second.stdout).toContain('Your first message was: \\"Hello!\\"');
  });

  it("infer prints a partial response and exits with 1 [SD-15]", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.write(encodeAwsFrame("messageStart", { role: "assistant" }));
      response.write(encodeTextDelta("Half of"), () => setImmediate(() => response.destroy()));
    });
    const environment = { AWS_HARNESS_ARN: HARNESS_ARN, AWS_ENDPOINT_URL: peer.url, ...KEYS };
    const { stdout, stderr, status } = await cli.run(["infer"], { environment, input: HELLO });
    expect(status).toBe(1);
    expect(JSON.parse(stdout).items).toMatchObject([
      { content: [{ text: "Half of" }], status: "incomplete" },
    ]);
    expect(stderr).toMatch(/^The turn failed: The connection .*lost/);
  });

  it.each([
    [
      {},
      HELLO,
      /^No agent is named. Fix: add --agent for an agent of the configuration, or set AWS_HARNESS_ARN or AWS_RUNTIME_ARN\n$/,
    ],
    [
      { AWS_HARNESS_ARN: HARNESS_ARN },
      HELLO,
      /^AWS_ACCESS_KEY_ID is not set, and no other credential source is used/,
    ],
    [
      { AWS_HARNESS_ARN: HARNESS_ARN, ...KEYS },
      "no json",
      /^The body cannot be used\. It is not valid JSON/,
    ],
    [
      { AWS_HARNESS_ARN: HARNESS_ARN, ...KEYS },
      `{"messages":[]}`,
      /^messages is empty: expected at least one user message\n$/,
    ],
  ])(
    "infer exits with 2 for invalid input: %j %s [SD-16]",
    async (environment, input, complaint) => {
      const { stdout, stderr, status } = await cli.run(["infer"], { environment, input });
      expect([stdout, status]).toEqual(["", 2]);
      expect(stderr).toMatch(complaint);
    },
  );
});

describe("spanline test", () => {
  it("test prints every stage of two turns and the name of the agent", async () => {
    const { stdout, stderr, status } = await cli.run(["test"]);
    expect([stderr, status]).toEqual(["", 0]);
    const lines = stdout.split("\n");
    expect(lines.filter((line) => /^\d/.test(line))).toEqual([
      "1. Sending one turn.",
      "2. Converting the input.",
      "3. Running inference.",
      "4. Transforming the output.",
      "5. Sending a second turn, in the same session.",
      "6. Converting the input.",
      "7. Running inference.",
      "8. Transforming the output.",
    ]);
    expect(stdout).toContain('   input: {"session_id":"","user_message":"Hello!"}\n');
    expect(stdout).toContain("   status: completed\n");
    expect(stdout).toContain('Your first message was: "Hello!"');
    expect(stdout).toMatch(/\n {3}session_id: spanline-\S+\n/);
    expect(lines.at(-2)).toBe("Successfully tested agent 'demo'.");
  });

  it("test prints the same stages as JSON with --json", async () => {
    const { url, demoArn } = await emulator();
    const args = ["test", demoArn, "--endpoint-url", url, "--json"];
    const { stdout, status } = await cli.run(args);
    expect(status).toBe(0);
    const { stages, ...rest } = JSON.parse(stdout);
    expect(rest).toEqual({ agent: demoArn, ok: true });
    // Each stage contains only the messages sent so far.
    expect(stages[0].request.messages).toHaveLength(1);
    expect(stages[4].request.messages).toHaveLength(3);
    expect(stages[7]).toMatchObject({ output: { items: [{ role: "assistant" }] } });
    expect(stages[3].session_id).toBe(stages[7].session_id);
  });

  it("test prints the failure and the next step, and exits with 1", async () => {
    const file = join(cli.folder, "broken.yaml");
    writeFileSync(
      file,
      "turns:\n  - refuse: { type: ThrottlingException, message: Too many requests }\n",
    );
    const { url, demoArn } = await emulator({ brain: `script:${file}` });
    const { stdout, stderr, status } = await cli.run(["test", demoArn, "--endpoint-url", url]);
    expect(status).toBe(1);
    expect(stdout).toMatch(/3\. Running inference\.\n$/);
    expect(stderr).toMatch(
      /^Testing agent 'arn:.*' failed\. .*Too many requests.*\nFix: wait a moment and try again\.\n$/,
    );
  });

  it("test fails for a turn that ends with an error, and keeps its text", async () => {
    const peer = await startPeer((response) => {
      startEventStream(response);
      response.write(encodeAwsFrame("messageStart", { role: "assistant" }));
      response.end(encodeAwsFrame("internalServerException", { message: "Boom" }, "exception"));
    });
    const args = ["test", HARNESS_ARN, "--endpoint-url", peer.url, "--json"];
    const { stdout, status } = await cli.run(args);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      failure: { message: expect.stringContaining("Boom") },
    });
  });

  it("`demo` is the built-in agent if the configuration has no agent with this name", async () => {
    const project = mkdtempSync(join(cli.folder, "project-"));
    const provider = "{ type: local, model: 'openai:none', baseUrl: 'http://127.0.0.1:1/v1' }";
    const config = join(project, "spanline.config.yaml");
    writeFileSync(config, `agents:\n  coder:\n    provider: ${provider}\n`);
    const tested = await cli.run(["test", "demo"], { workingDirectory: project });
    expect([tested.stderr, tested.status]).toEqual(["", 0]);
    expect(tested.stdout).toContain("Successfully tested agent 'demo'.");
    const named = await cli.run(["test", "demo", "--config", config]);
    expect([named.stderr, named.status]).toEqual([
      expect.stringContaining('does not exist: expected "coder"'),
      2,
    ]);
  });

  it("test refuses an unknown agent and exits with 2", async () => {
    const { stderr, status } = await cli.run(["test", "nobody"]);
    expect([stderr, status]).toEqual([
      expect.stringContaining('does not exist: expected "demo"'),
      2,
    ]);
  });
});
