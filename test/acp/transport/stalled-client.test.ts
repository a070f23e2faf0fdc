import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { emulate, TEST_CREDENTIALS } from "../../../src/emulator/index.ts";
import { createAcpProject, type AcpProject } from "../../support/acp/acp-project.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import { allowLongTests } from "../../support/test-depth.ts";

allowLongTests();

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const MEGABYTE = 1024 * 1024;
const HEAP_MEGABYTES = 48;
const TURNS = 32;
const TEXT = "0123456789abcdef".repeat(MEGABYTE / 16);

/** A client that counts the received characters and stores none of them. */
function counting({ stdin, stdout }: ChildProcessWithoutNullStreams) {
  const waiting = new Map<number, (result: { readonly sessionId?: string }) => void>();
  let sent = 0;
  let characters = 0;
  let resolveChunk = (): void => {};
  createInterface({ input: stdout }).on("line", (line) => {
    const { id, result, params } = JSON.parse(line);
    if (params?.update?.sessionUpdate === "agent_message_chunk") {
      characters += params.update.content.text.length;
      resolveChunk();
    }
    if (id === undefined) return;
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  return {
    ask(method: string, params: object = {}): Promise<{ readonly sessionId?: string }> {
      sent += 1;
      const id = sent;
      stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      return new Promise((resolve) => {
        waiting.set(id, resolve);
      });
    },
    heard(minimum: number): Promise<number> {
      return new Promise((resolve) => {
        resolveChunk = () => {
          if (characters >= minimum) resolve(characters);
        };
        resolveChunk();
      });
    },
  };
}

/** An agent with a response of a megabyte per turn. The conversation is stored by the emulator. */
async function talkative(): Promise<AcpProject> {
  const script = join(command.folder, "talk.yaml");
  writeFileSync(script, `chunk: 100000\nrepeat: true\nturns:\n  - answer: ${TEXT}\n`);
  const emulator = await emulate({ brain: `script:${script}` });
  onTestFinished(() => emulator.close());
  const provider = { type: "harness", arn: emulator.demoArn, endpoint: emulator.url };
  const world = await createAcpProject(command, {
    provider,
    workspace: undefined,
    approvals: undefined,
  });
  const { accessKeyId, secretAccessKey } = TEST_CREDENTIALS;
  world.environment["AWS_ACCESS_KEY_ID"] = accessKeyId;
  world.environment["AWS_SECRET_ACCESS_KEY"] = secretAccessKey;
  return world;
}

describe("Client that stops reading", () => {
  it("The client costs the process no memory, does not delay other clients, and receives all updates later [ACP-14]", async () => {
    const world = await talkative();
    const setup = { cwd: world.project, mcpServers: [] };
    // The process exits if it exceeds the heap limit, which is below the size of the unread updates.
    world.environment["NODE_OPTIONS"] = `--max-old-space-size=${HEAP_MEGABYTES}`;
    const owner = world.spawn();
    const client = counting(owner);
    await client.ask("initialize");
    const { sessionId } = await client.ask("session/new", setup);
    delete world.environment["NODE_OPTIONS"];
    const other = counting(world.spawn());
    await other.ask("initialize");
    await other.ask("session/resume", { sessionId, ...setup });
    owner.stdout.pause();
    for (let count = 0; count < TURNS; count += 1) {
      const prompt = [{ type: "text", text: "Talk" }];
      expect(await other.ask("session/prompt", { sessionId, prompt })).toMatchObject({
        stopReason: "end_turn",
      });
    }
    expect(owner.exitCode).toBe(null);
    owner.stdout.resume();
    expect(await client.heard(TURNS * MEGABYTE)).toBe(TURNS * MEGABYTE);
    expect(owner.exitCode).toBe(null);
  });
});
