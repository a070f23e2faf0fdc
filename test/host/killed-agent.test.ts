import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createClient,
  createHost,
  createLineTransport,
  type Transport,
} from "../../src/host/index.ts";
import { createCommandLine } from "../support/command-line.ts";

function overProcess({ stdin, stdout }: ChildProcessWithoutNullStreams): Transport {
  return createLineTransport({
    input: Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
    output: Writable.toWeb(stdin),
  });
}

describe("Client of a spanline acp process", () => {
  it("The client continues after the process is killed during a permission request, and the request is sent again [W-48]", async () => {
    const command = await createCommandLine();
    onTestFinished(() => command.close());
    const processes: ChildProcessWithoutNullStreams[] = [];
    const connect = (): Transport => {
      const main = join(command.folder, "bin/main.mjs");
      const args = ["--no-warnings", main, "acp", "-d", join(command.folder, "data")];
      const child = spawn(process.execPath, args, { cwd: command.folder });
      onTestFinished(() => void child.kill());
      processes.push(child);
      return overProcess(child);
    };
    let requestCount = 0;
    let isDone = (): void => {};
    const done = new Promise<void>((resolve) => (isDone = resolve));
    const host = createHost({
      permission({ approval }) {
        requestCount += 1;
        if (requestCount > 1) return approval.action === "save_note" ? "allow" : "deny";
        processes[0]?.kill("SIGKILL");
        return "leave";
      },
    });
    const client = createClient(connect, {
      host,
      reconnect: { first: 1, longest: 1 },
      onUpdate({ update }) {
        if (update.type === "tool" && update.status === "completed") isDone();
      },
    });
    onTestFinished(() => client.close());
    const { sessionId } = await client.newSession({ workingDirectory: command.folder });
    const run = client.prompt(sessionId, "Please save a note: buy milk");
    expect(await run.result).toMatchObject({ reason: "end_turn" });
    await done;
    expect(requestCount).toBe(2);
    expect(processes).toHaveLength(2);
  });
});
