import {
  InvokeAgentRuntimeCommandCommand,
  StopRuntimeSessionCommand,
  type BedrockAgentCoreClient,
} from "@aws-sdk/client-bedrock-agentcore";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { fakeClock } from "../support/fake-clock.ts";
import { HARNESS_ARN, running, SESSION } from "./data-support.ts";

interface Chunk {
  readonly contentStart?: object;
  readonly contentDelta?: { readonly stdout?: string; readonly stderr?: string };
  readonly contentStop?: { readonly exitCode: number; readonly status: string };
}

async function opened(client: BedrockAgentCoreClient, command: string, timeout?: number) {
  const { stream } = await client.send(
    new InvokeAgentRuntimeCommandCommand({
      agentRuntimeArn: HARNESS_ARN,
      runtimeSessionId: SESSION,
      body: { command, ...(timeout === undefined ? {} : { timeout }) },
    }),
  );
  return stream as unknown as AsyncIterable<{ chunk?: Chunk }>;
}

async function ran(client: BedrockAgentCoreClient, command: string, timeout?: number) {
  const chunks: Chunk[] = [];
  for await (const { chunk } of await opened(client, command, timeout)) chunks.push(chunk ?? {});
  const all = (name: "stdout" | "stderr"): string =>
    chunks.map(({ contentDelta }) => contentDelta?.[name] ?? "").join("");
  return {
    first: chunks[0],
    stdout: all("stdout"),
    stderr: all("stderr"),
    stop: chunks.at(-1)?.contentStop,
  };
}

describe("InvokeAgentRuntimeCommand, read by the unmodified AWS SDK [AC-86]", () => {
  it("streams what a command says and how it ended", async () => {
    const { client } = await running({ commands: "run" });
    expect(await ran(client, "printf 'Grüße 🌍'; echo oops >&2; exit 3")).toEqual({
      first: { contentStart: {} },
      stdout: "Grüße 🌍",
      stderr: "oops\n",
      stop: { exitCode: 3, status: "COMPLETED" },
    });
  });

  it("keeps a session's files between commands, and none beyond the session", async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), "spanline-data-"));
    onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const { client } = await running({ commands: "run", dataDirectory });
    await ran(client, "echo kept > note.txt");
    expect((await ran(client, "cat note.txt; pwd")).stdout).toMatch(
      new RegExp(`^kept\n${dataDirectory}/workspaces/`),
    );
    await client.send(
      new StopRuntimeSessionCommand({ agentRuntimeArn: HARNESS_ARN, runtimeSessionId: SESSION }),
    );
    expect((await ran(client, "ls -A")).stdout).toBe("");
  });

  it("shows a command nothing of the emulator's environment but what the harness sets", async () => {
    process.env["SPANLINE_TEST_SECRET"] = "secret";
    onTestFinished(() => void delete process.env["SPANLINE_TEST_SECRET"]);
    const { client } = await running({
      commands: "run",
      harness: { environmentVariables: { GREETING: "hello" } },
    });
    const { stdout } = await ran(client, 'echo "$GREETING-$SPANLINE_TEST_SECRET-"');
    expect(stdout).toBe("hello--\n");
  });

  it("ends a command, and all that it started, at its time limit", async () => {
    const clock = fakeClock();
    const { client } = await running({ commands: "run", clock });
    // The stream ends when nobody holds the output open any more: on this clock there is no other way.
    const stream = await opened(client, "sleep 1000 & echo go; sleep 1000", 7);
    let stop: Chunk["contentStop"];
    for await (const { chunk } of stream) {
      if (chunk?.contentDelta !== undefined) clock.advance(7000);
      stop = chunk?.contentStop ?? stop;
    }
    expect(stop).toEqual({ exitCode: -1, status: "TIMED_OUT" });
  });

  it("ends a command with its session", async () => {
    const { client } = await running({ commands: "run" });
    const stream = await opened(client, "echo go; sleep 1000");
    let stop: Chunk["contentStop"];
    for await (const { chunk } of stream) {
      if (chunk?.contentDelta !== undefined) {
        await client.send(
          new StopRuntimeSessionCommand({
            agentRuntimeArn: HARNESS_ARN,
            runtimeSessionId: SESSION,
          }),
        );
      }
      stop = chunk?.contentStop ?? stop;
    }
    expect(stop).toEqual({ exitCode: 137, status: "COMPLETED" });
  });

  it("is over when the shell is, whatever it left in the background", async () => {
    const { client } = await running({ commands: "run" });
    const { stdout, stop } = await ran(client, "sleep 300 & echo $!");
    expect(stop).toEqual({ exitCode: 0, status: "COMPLETED" });
    process.kill(Number(stdout), "SIGKILL");
  });

  it("passes on more than all buffers hold", async () => {
    const { client } = await running({ commands: "run" });
    const { stdout } = await ran(client, "head -c 3000000 /dev/zero | tr '\\0' x");
    expect(stdout.length).toBe(3_000_000);
  });

  it("runs nothing unless it was started for that, and says how", async () => {
    const { client } = await running();
    await expect(opened(client, "echo")).rejects.toMatchObject({
      name: "AccessDeniedException",
      message: expect.stringContaining('commands: "run"') as string,
    });
  });

  it.each([
    ["", undefined, "length greater than or equal to 1"],
    ["x", 3601, "value less than or equal to 3600"],
    ["x", 0, "value greater than or equal to 1"],
  ])("refuses the command %j with the limit %j", async (command, timeout, rule) => {
    const { client } = await running({ commands: "run" });
    await expect(opened(client, command, timeout)).rejects.toThrow(rule);
  });
});
