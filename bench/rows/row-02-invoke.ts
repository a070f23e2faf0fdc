import { BedrockAgentCoreClient, InvokeHarnessCommand } from "@aws-sdk/client-bedrock-agentcore";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { measure, computeMedian, type Subject } from "../measure.ts";
import type { Row } from "../report.ts";
import { encodeTextTurn } from "../streams.ts";

const SMALL_EVENTS = 20_000;
const LARGE_EVENTS = 2_000;
const CREDENTIALS = { accessKeyId: "test", secretAccessKey: "test" };

/** An invocation over a socket: signing, HTTP, decoding and, for spanline, the fold [AC-97]. */
export async function measureInvoke(): Promise<Row> {
  const small = await startEmulator(encodeTextTurn(SMALL_EVENTS));
  const large = await startEmulator(encodeTextTurn(LARGE_EVENTS, "x".repeat(4000)));
  try {
    const onSmall = await measure(
      [createSpanlineSubject(small, "small"), createSdkSubject(small, "small")],
      {
        units: SMALL_EVENTS,
      },
    );
    const onLarge = await measure(
      [createSpanlineSubject(large, "4 KB"), createSdkSubject(large, "4 KB")],
      {
        units: LARGE_EVENTS,
      },
    );
    return {
      title: "InvokeHarness end to end, with the fold, on one emulator",
      unit: "µs CPU/event",
      measured: [...onSmall, ...onLarge],
      growth: await measureGrowth(),
      ratios: [
        { ...createRatio("small deltas", onSmall), target: 3 },
        { ...createRatio("deltas of 4 KB", onLarge), target: 2 },
      ],
    };
  } finally {
    for (const { child } of [small, large]) child.kill();
  }
}

function createRatio(name: string, measured: Awaited<ReturnType<typeof measure>>) {
  const [spanline = Number.NaN, aws = Number.NaN] = measured.map(({ rounds }) =>
    computeMedian(rounds),
  );
  return {
    text: `AWS SDK client ÷ spanline, ${name}`,
    value: aws / spanline,
    bound: "at least" as const,
  };
}

/** The cost per event at 1×, 4× and 16× the events, which must not grow. */
async function measureGrowth(): Promise<{ readonly times: number; readonly cost: number }[]> {
  const grown = [];
  for (const times of [1, 4, 16]) {
    const units = (SMALL_EVENTS / 4) * times;
    const emulator = await startEmulator(encodeTextTurn(units));
    const [result] = await measure([createSpanlineSubject(emulator, "small")], {
      units,
      rounds: 5,
    });
    emulator.child.kill();
    grown.push({ times, cost: computeMedian(result?.rounds ?? []) });
  }
  return grown;
}

interface RunningEmulator {
  readonly url: string;
  readonly harnessArn: string;
  readonly child: ChildProcess;
}

/**
 * Starts the emulator in a separate process, so that only the clients are measured. Every turn replays the same bytes.
 */
async function startEmulator(turn: Uint8Array): Promise<RunningEmulator> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  writeFileSync(join(folder, "turn.eventstream"), turn);
  const script = join(folder, "script.yaml");
  writeFileSync(script, "repeat: true\nturns: [{ replay: turn.eventstream }]\n");
  const child = fork(
    join(import.meta.dirname, "../../../../dist/cli/main.js"),
    ["emulate", "--port=0", "--json", `--brain=script:${script}`],
    { silent: true },
  );
  child.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  if (child.stdout === null) throw new Error("The emulator has no output");
  const [line] = await once(child.stdout, "data");
  const { url, harness } = JSON.parse(String(line));
  return { url, harnessArn: harness, child };
}

function createSpanlineSubject(
  { url: endpoint, harnessArn }: RunningEmulator,
  size: string,
): Subject {
  const provider = harnessProvider({ harnessArn, endpoint, credentials: CREDENTIALS });
  const { signal } = new AbortController();
  return {
    name: `spanline, ${size}`,
    async run() {
      const call = await provider.open().invoke({ type: "prompt", texts: ["Go on"] }, { signal });
      let outcome = "";
      for await (const event of call) if (event.type === "end") outcome = event.outcome;
      if (outcome !== "completed") throw new Error(`The turn ended as ${outcome}`);
    },
  };
}

function createSdkSubject({ url: endpoint, harnessArn }: RunningEmulator, size: string): Subject {
  const client = new BedrockAgentCoreClient({
    endpoint,
    region: "us-east-1",
    credentials: CREDENTIALS,
  });
  return {
    name: `AWS SDK client, ${size}`,
    async run() {
      const { stream } = await client.send(
        new InvokeHarnessCommand({
          harnessArn,
          runtimeSessionId: crypto.randomUUID(),
          messages: [{ role: "user", content: [{ text: "Go on" }] }],
        }),
      );
      let reason = "";
      for await (const event of stream ?? []) reason = event.messageStop?.stopReason ?? reason;
      if (reason !== "end_turn") throw new Error(`The turn ended with ${reason}`);
    },
  };
}
