import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toError, NotFoundError } from "../../src/domain/provider/provider-error.ts";
import { emulate } from "../../src/emulator/emulate-agentcore.ts";
import type { Emulator } from "../../src/emulator/start-emulator.ts";
import { TEST_CREDENTIALS } from "../../src/emulator/emulator-options.ts";
import { openSessionArtifacts, type Artifacts } from "../../src/providers/agentcore/artifacts.ts";
import { collectCommandOutput } from "../../src/providers/agentcore/command-output.ts";
import {
  harnessProvider,
  type HarnessSession,
} from "../../src/providers/agentcore/harness-provider.ts";
import { encodeAwsFrame, startEventStream, startPeer } from "../support/server/scripted-peer.ts";
import { gather, openHarnessSession, catchRejection } from "../support/session/provider-session.ts";

const { signal } = new AbortController();
let emulator: Emulator;

beforeAll(async () => {
  emulator = await emulate({ commands: "run" });
});

afterAll(() => emulator.close());

function machine(): HarnessSession {
  const { demoArn: harnessArn, url: endpoint } = emulator;
  return harnessProvider({ harnessArn, endpoint, credentials: TEST_CREDENTIALS }).open();
}

describe("Commands on the agent's machine", () => {
  it("A command streams its output and ends with its exit code", async () => {
    const run = await machine().runCommand("echo one; echo two >&2; exit 3", { signal });
    const events = await gather(run);
    expect(events.at(-1)).toEqual({
      type: "exit",
      exitCode: 3,
      outcome: "completed",
      reason: "COMPLETED",
    });
    expect(events).toContainEqual({ type: "stdout", text: "one\n" });
    expect(events).toContainEqual({ type: "stderr", text: "two\n" });
  });

  it("A command that exceeds its time limit says so [RMA-P2-7]", async () => {
    const limit = { signal, timeoutSeconds: 60 };
    const run = await machine().runCommand("echo begun; sleep 600", limit);
    const passing = (async function* () {
      for await (const event of run) {
        yield event;
        if (event.type === "stdout") await emulator.advance(60_000);
      }
    })();
    expect(await collectCommandOutput(passing)).toMatchObject({
      stdout: "begun\n",
      outcome: "timed-out",
    });
  });

  it("Both response shapes are parsed, and exceptions have the same errors as elsewhere [AC-57]", async () => {
    const answering = async (...frames: readonly Buffer[]) => {
      const peer = await startPeer((response) => {
        startEventStream(response);
        response.end(Buffer.concat(frames));
      });
      const session = openHarnessSession(peer.url);
      return gather(await session.runCommand("ls", { signal }));
    };
    const bare = await answering(
      encodeAwsFrame("contentStart", {}),
      encodeAwsFrame("contentDelta", { stdout: "x" }),
      encodeAwsFrame("contentStop", { exitCode: 0, status: "COMPLETED" }),
    );
    const wrapped = await answering(
      encodeAwsFrame("chunk", { contentDelta: { stdout: "x" } }),
      encodeAwsFrame("chunk", { contentStop: { exitCode: 0, status: "COMPLETED" } }),
    );
    expect(bare).toEqual(wrapped);
    const throttled = await answering(
      encodeAwsFrame("chunk", { contentDelta: { stdout: "x" } }),
      encodeAwsFrame("throttlingException", { message: "slow" }, "exception"),
    );
    const cut = await answering(encodeAwsFrame("chunk", { contentDelta: { stdout: "x" } }));
    for (const [events, code] of [
      [throttled, "throttled"],
      [cut, "incomplete_turn"],
    ] as const) {
      const last = events.at(-1);
      if (last?.type !== "failed") throw new Error("The command did not fail");
      expect(toError(last.failure)).toMatchObject({ code, details: { phase: "stream" } });
      await expect(
        collectCommandOutput(
          (async function* () {
            yield* events;
          })(),
        ),
      ).rejects.toMatchObject({ code });
    }
  });
});

describe("Artifacts of a session", () => {
  const artifacts = (): Artifacts => openSessionArtifacts(machine(), { folder: "it's here" });

  it("Artifacts can be stored, listed, fetched and deleted by name", async () => {
    const store = artifacts();
    expect(await store.list(signal)).toEqual([]);
    const large = Buffer.alloc(100_000, "a very long line without an end ");
    await store.put("report.bin", large, signal);
    await store.put("empty", new Uint8Array(0), signal);
    await store.put("empty", Buffer.from("no more"), signal);
    expect(await store.list(signal)).toEqual([
      { name: "empty", bytes: 7 },
      { name: "report.bin", bytes: 100_000 },
    ]);
    expect(Buffer.from(await store.fetch("report.bin", signal)).equals(large)).toBe(true);
    await store.delete("report.bin", signal);
    expect(await store.list(signal)).toEqual([{ name: "empty", bytes: 7 }]);
  });

  it("Folders and files with invalid names are not artifacts", async () => {
    const session = machine();
    const store = openSessionArtifacts(session, { folder: "-x" });
    const odd = String.raw`mkdir -p ./-x/sub && cd ./-x && : > "$(printf 'a\n9 b')" && : > 'c d'`;
    await collectCommandOutput(await session.runCommand(odd, { signal }));
    await store.put("plain", Buffer.from("1"), signal);
    expect(await store.list(signal)).toEqual([{ name: "plain", bytes: 1 }]);
    expect(await catchRejection(store.put("sub", Buffer.from("1"), signal))).toMatchObject({
      code: "agent_failed",
    });
    const remainingFiles = await session.runCommand("ls -A ./-x/sub", { signal });
    expect((await collectCommandOutput(remainingFiles)).stdout).toBe("");
  });

  it("A missing artifact is not found", async () => {
    const store = artifacts();
    const memoryRequests = [
      () => store.fetch("nothing", signal),
      () => store.delete("nothing", signal),
    ];
    for (const ask of memoryRequests) {
      const error = await catchRejection(ask());
      expect(error).toBeInstanceOf(NotFoundError);
      expect(String(error)).toContain('Artifact "nothing" does not exist');
    }
  });

  it.each(["", ".", "..", ".part-x", "a/b", "a b", "$(id)", "x".repeat(256)])(
    "The artifact name %j is refused before a command runs",
    async (name) => {
      const ran: string[] = [];
      const store = openSessionArtifacts({
        runCommand: (command) => {
          ran.push(command);
          return Promise.reject(new Error("It ran"));
        },
      });
      expect(await catchRejection(store.put(name, new Uint8Array(0), signal))).toMatchObject({
        code: "invalid_option",
      });
      expect(ran).toEqual([]);
    },
  );

  it("An interrupted put keeps the old content, and the next put is complete [RMA-P2-9]", async () => {
    const inner = machine();
    const store = openSessionArtifacts(inner);
    await store.put("notes", Buffer.from("old"), signal);
    let writes = 0;
    const dying = openSessionArtifacts({
      runCommand(command, options) {
        writes += command.startsWith("printf") ? 1 : 0;
        return writes > 1
          ? Promise.reject(new Error("killed"))
          : inner.runCommand(command, options);
      },
    });
    await catchRejection(dying.put("notes", Buffer.alloc(80_000, "n"), signal));
    expect(String(Buffer.from(await store.fetch("notes", signal)))).toBe("old");
    await store.put("notes", Buffer.from("new"), signal);
    expect(String(Buffer.from(await store.fetch("notes", signal)))).toBe("new");
    expect(await store.list(signal)).toEqual([{ name: "notes", bytes: 3 }]);
  });
});
