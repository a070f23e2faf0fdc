import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const UPDATES = 20_000;
const WARM_UP = 12;
const ROUNDS = 9;

/** ACP updates over a pipe to a reader which only counts lines: the agent's cost per update [ACP-18]. */
export async function measureAcp(): Promise<Row> {
  const agents = [await startAgent("spanline"), await startAgent("sdk")];
  const names = ["spanline, from the log's envelopes", "an agent on the ACP SDK 2.4"];
  const measured = names.map((name) => ({ name, rounds: [] as number[] }));
  const speeds: number[] = [];
  const growth = [];
  try {
    for (let round = -WARM_UP; round < ROUNDS; round++) {
      for (const [at, agent] of agents.entries()) {
        const { cost, perSecond } = await agent.prompt(UPDATES);
        if (round < 0) continue;
        measured[at]?.rounds.push(cost);
        if (at === 0) speeds.push(perSecond);
      }
    }
    for (const times of [1, 4, 16]) {
      const rounds = [];
      for (let round = 0; round < 5; round++) {
        rounds.push((await agents[0]?.prompt((UPDATES / 4) * times))?.cost ?? Number.NaN);
      }
      growth.push({ times, cost: computeMedian(rounds) });
    }
  } finally {
    await Promise.all(agents.map((agent) => agent.close()));
  }
  const [ours = Number.NaN, sdk = Number.NaN] = measured.map(({ rounds }) => computeMedian(rounds));
  return {
    title: `${UPDATES} updates of a turn over ACP, to a reader that counts lines`,
    unit: "µs CPU/update of the agent",
    measured,
    growth,
    ratios: [
      { text: "agent on the ACP SDK ÷ spanline", value: sdk / ours, target: 6, bound: "at least" },
      {
        text: "spanline, thousand updates a second by the wall",
        value: computeMedian(speeds) / 1000,
        target: 100,
        bound: "at least",
      },
    ],
  };
}

interface MeasuredAgent {
  prompt(updates: number): Promise<{ readonly cost: number; readonly perSecond: number }>;
  close(): Promise<void>;
}

async function startAgent(kind: string): Promise<MeasuredAgent> {
  const child = fork(join(import.meta.dirname, "../programs/acp-agent.js"), [kind], {
    stdio: ["pipe", "pipe", "inherit", "ipc"],
  });
  const request = (id: number, method: string, params: object): Promise<number> => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return countLinesUntil(child, `"id":${id},`);
  };
  await request(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
  // The id of the first session in both agents.
  const sessionId = "ses_1";
  await request(2, "session/new", { cwd: "/", mcpServers: [] });
  let last = 2;
  return {
    async prompt(updates) {
      last += 1;
      const startCpu = await readCpuOf(child);
      const start = performance.now();
      const prompt = [{ type: "text", text: String(updates) }];
      const lines = await request(last, "session/prompt", { sessionId, prompt });
      const seconds = (performance.now() - start) / 1000;
      if (lines < updates) throw new Error(`Only ${lines} lines were sent by ${kind}`);
      const cost = ((await readCpuOf(child)) - startCpu) / (lines - 1);
      return { cost, perSecond: (lines - 1) / seconds };
    },
    async close() {
      child.stdin?.end();
      child.disconnect();
      await once(child, "exit");
    },
  };
}

/** Microseconds. */
async function readCpuOf(child: ChildProcess): Promise<number> {
  const answer = once(child, "message");
  child.send("cpu");
  const [{ user, system }] = (await answer) as [NodeJS.CpuUsage];
  return user + system;
}

/** Counts lines until a line contains the marker. Further lines may follow in the same chunk. */
function countLinesUntil({ stdout }: ChildProcess, marker: string): Promise<number> {
  return new Promise((resolve) => {
    let lines = 0;
    let tail = "";
    const count = (chunk: Buffer): void => {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
      tail = (tail + chunk.toString("latin1", Math.max(0, chunk.length - TAIL_BYTES))).slice(
        -TAIL_BYTES,
      );
      if (!tail.slice(0, tail.lastIndexOf("\n") + 1).includes(marker)) return;
      stdout?.off("data", count);
      resolve(lines);
    };
    stdout?.on("data", count);
  });
}

/** Longer than a response and the notifications after it. */
const TAIL_BYTES = 8192;
