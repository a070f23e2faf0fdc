import {
  InvokeAgentRuntimeCommandCommand,
  StopRuntimeSessionCommand,
  type BedrockAgentCoreClient,
} from "@aws-sdk/client-bedrock-agentcore";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { HARNESS_ARN, invoke, running, SESSION, type Setup } from "./start-data-plane.ts";

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
  it("A command streams its output and its exit code", async () => {
    const { client } = await running({ commands: "run" });
    expect(await ran(client, "printf 'Grüße 🌍'; echo oops >&2; exit 3")).toEqual({
      first: { contentStart: {} },
      stdout: "Grüße 🌍",
      stderr: "oops\n",
      stop: { exitCode: 3, status: "COMPLETED" },
    });
  });

  it("The files of a session are kept between commands and deleted with the session", async () => {
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

  it("A command sees only the environment variables of its harness, not those of the emulator", async () => {
    process.env["SPANLINE_TEST_SECRET"] = "secret";
    onTestFinished(() => void delete process.env["SPANLINE_TEST_SECRET"]);
    const { client } = await running({
      commands: "run",
      harness: { environmentVariables: { GREETING: "hello" } },
    });
    const { stdout } = await ran(client, 'echo "$GREETING-$SPANLINE_TEST_SECRET-"');
    expect(stdout).toBe("hello--\n");
  });

  it("A command and its child processes end at the time limit", async () => {
    const clock = createFakeClock();
    const { client } = await running({ commands: "run", clock });
    // The stream ends only when no process holds the output open, because this clock triggers no other limit.
    const stream = await opened(client, "sleep 1000 & echo go; sleep 1000", 7);
    let stop: Chunk["contentStop"];
    for await (const { chunk } of stream) {
      if (chunk?.contentDelta !== undefined) clock.advance(7000);
      stop = chunk?.contentStop ?? stop;
    }
    expect(stop).toEqual({ exitCode: -1, status: "TIMED_OUT" });
  });

  it("A command ends when its session is stopped", async () => {
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

  it("A command is complete when its shell exits, even with processes in the background", async () => {
    const { client } = await running({ commands: "run" });
    const { stop } = await ran(client, "sleep 300 &");
    expect(stop).toEqual({ exitCode: 0, status: "COMPLETED" });
  });

  it("Command output larger than all buffers is streamed completely", async () => {
    const { client } = await running({ commands: "run" });
    const { stdout } = await ran(client, "head -c 3000000 /dev/zero | tr '\\0' x");
    expect(stdout.length).toBe(3_000_000);
  });

  it("Commands are refused unless they are enabled, and the message says how to enable them", async () => {
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
  ])("The command %j with the time limit %j is refused", async (command, timeout, rule) => {
    const { client } = await running({ commands: "run" });
    await expect(opened(client, command, timeout)).rejects.toThrow(rule);
  });
});

describe("Background processes of a command", () => {
  const backgroundCommand = "sleep 300 & echo $! $PWD";
  const stop = new StopRuntimeSessionCommand({
    agentRuntimeArn: HARNESS_ARN,
    runtimeSessionId: SESSION,
  });

  async function background(setup: Setup = {}) {
    const emulator = await running({ commands: "run", ...setup });
    const { stdout } = await ran(emulator.client, backgroundCommand);
    const [pid = "", folder = ""] = stdout.trim().split(" ");
    expect([isRunning(pid), existsSync(folder)]).toEqual([true, true]);
    return { ...emulator, pid, folder };
  }

  it("A background process keeps running while its session lives", async () => {
    const { client, pid, folder } = await background();
    await ran(client, "true");
    expect([isRunning(pid), existsSync(folder)]).toEqual([true, true]);
  });

  it("A background process ends when its session is stopped, and the folder is deleted", async () => {
    const { client, pid, folder } = await background();
    await client.send(stop);
    expect([isRunning(pid), existsSync(folder)]).toEqual([false, false]);
  });

  it("A background process ends when its session is idle for too long, and the folder is deleted", async () => {
    const clock = createFakeClock();
    // Waiting for the end of the output uses this clock.
    const emulator = await running({ commands: "run", clock });
    const command = ran(emulator.client, "sleep 300 >/dev/null 2>&1 & echo $! $PWD");
    const [pid = "", folder = ""] = (await command).stdout.trim().split(" ");
    clock.advance(899_000);
    expect(isRunning(pid)).toBe(true);
    clock.advance(1000);
    await eventually(() => expect([isRunning(pid), existsSync(folder)]).toEqual([false, false]));
  });

  it("A background process ends with the emulator, and the folder is deleted", async () => {
    const { close, pid, folder } = await background();
    await close();
    expect([isRunning(pid), existsSync(folder)]).toEqual([false, false]);
  });

  it("A background process ends with the emulator, and the folder of a persistent session is kept", async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), "spanline-data-"));
    onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
    const { close, pid, folder } = await background({ dataDirectory });
    await close();
    expect([isRunning(pid), existsSync(folder)]).toEqual([false, true]);
  });

  it("A stopped session can be used again even if a background process was still writing", async () => {
    const { client } = await running({ commands: "run" });
    await ran(client, "(while :; do mkdir -p a/b; touch a/b/$RANDOM; done) >/dev/null 2>&1 &");
    await client.send(stop);
    expect((await ran(client, "ls -A")).stdout).toBe("");
  });
});

describe("Commands that run longer than the idle limit", () => {
  it("A running command keeps its session and its folder alive", async () => {
    const clock = createFakeClock();
    const harness = { lifecycle: { idleSeconds: 60, lifetimeSeconds: 28_800 } };
    const { client } = await running({ commands: "run", clock, harness });
    const wait = "while [ ! -e on ]; do sleep 0.02; done";
    const stream = await opened(client, `echo $PWD; ${wait}; ls -d $PWD`);
    let stdout = "";
    for await (const { chunk } of stream) {
      const stdoutText = chunk?.contentDelta?.stdout ?? "";
      if (stdout === "" && stdoutText !== "") {
        clock.advance(100_000);
        await invoke(client);
        writeFileSync(join(stdoutText.trim(), "on"), "");
      }
      stdout += stdoutText;
    }
    expect(stdout).toMatch(/^(\/.*\/spanline-session-\w+)\n\1\n$/);
  });

  it("A running command is reset when the lifetime of its session ends", async () => {
    const clock = createFakeClock();
    const harness = { lifecycle: { idleSeconds: 60, lifetimeSeconds: 100 } };
    const { client } = await running({ commands: "run", clock, harness });
    const stream = await opened(client, "echo $$; sleep 1000");
    let pid = "";
    const read = (async () => {
      for await (const { chunk } of stream) {
        if (chunk?.contentDelta === undefined) continue;
        pid = chunk.contentDelta.stdout?.trim() ?? "";
        clock.advance(99_000);
        expect(isRunning(pid)).toBe(true);
        clock.advance(1000);
      }
    })();
    await expect(read).rejects.toThrow("aborted");
    expect(isRunning(pid)).toBe(false);
  });
});

function isRunning(pid: string): boolean {
  // Without an init process, a child which no parent waits for stays in the process table as a zombie. Zombies do not
  // run.
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.startsWith("Z");
}
