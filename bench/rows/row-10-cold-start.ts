import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const ROUNDS = 15;
const IDLE_MS = 5000;
/** V8 collects garbage and compiles in the background for up to ten seconds after the start. */
const SETTLE_MS = 12_000;
const INITIALIZE = { protocolVersion: 1, clientCapabilities: {} };
/** The minimum work of any agent. */
const BARE_AGENT = `process.stdin.once("data", () => process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\n', () => process.exit()))`;

/** Time from the process start to the response to `initialize`, and the CPU cost of waiting [ACP-17]. */
export async function measureColdStart(): Promise<Row> {
  const main = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
  const directory = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const subjects = [
    { name: "bare node that answers one line", args: ["-e", BARE_AGENT] },
    { name: "spanline acp", args: [main, "acp", "--data-dir", directory] },
  ];
  const measured = subjects.map(({ name }) => ({ name, rounds: [] as number[] }));
  let idle = Number.NaN;
  try {
    for (let round = -2; round < ROUNDS; round++) {
      for (const [at, { args }] of subjects.entries()) {
        const started = await startAgent(args);
        if (round >= 0) measured[at]?.rounds.push(started.reply);
        await started.end();
      }
    }
    idle = await measureIdleCost([main, "acp", "--data-dir", directory]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const [bare = Number.NaN, ours = Number.NaN] = measured.map(({ rounds }) =>
    computeMedian(rounds),
  );
  return {
    title: "cold start to the reply to initialize",
    unit: "ms",
    measured,
    growth: [],
    ratios: [
      { text: "added to bare node, ms", value: ours - bare, target: 35, bound: "at most" },
      { text: "spanline acp, ms in all [ACP-17]", value: ours, target: 300, bound: "at most" },
      ...createIdleRatio(idle),
    ],
  };
}

/** Empty if the value is unknown. */
function createIdleRatio(value: number): Row["ratios"] {
  if (Number.isNaN(value)) return [];
  const text = "CPU of a session that waits, ms a second [ACP-17]";
  return [{ text, value, target: 1, bound: "at most" }];
}

async function startAgent(args: readonly string[]) {
  // Extra CA certificates cost 50 ms per start, which is unrelated to spanline.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const begun = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "inherit"] });
  const ask = async (id: number, method: string, params: object): Promise<void> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await once(child.stdout, "data");
  };
  await ask(1, "initialize", INITIALIZE);
  return {
    reply: performance.now() - begun,
    pid: child.pid,
    ask,
    async end() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

/** With an open session, after its startup work. NaN if the kernel does not provide the counter. */
async function measureIdleCost(args: readonly string[]): Promise<number> {
  const agent = await startAgent(args);
  await agent.ask(2, "session/new", { cwd: process.cwd(), mcpServers: [] });
  await pause(SETTLE_MS);
  const before = readCpuMs(agent.pid);
  await pause(IDLE_MS);
  const spent = readCpuMs(agent.pid) - before;
  await agent.end();
  return spent / (IDLE_MS / 1000);
}

/** CPU time of all threads of a process. The ticks of `stat` are 10 ms each, longer than the measured time. */
function readCpuMs(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(`/proc/${pid}/schedstat`)) return Number.NaN;
  const times = readdirSync(tasks).map((task) => {
    const [nanoseconds] = readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ");
    return Number(nanoseconds) / 1e6;
  });
  return times.reduce((sum, time) => sum + time, 0);
}
