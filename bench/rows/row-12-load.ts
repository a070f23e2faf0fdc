import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const ROUNDS = 3;

/** The longest time a load of 10,000 messages blocks the event loop [ACP-64]. */
export async function measureLoad(): Promise<Row> {
  const blocks: LoadBlocks[] = [];
  for (let round = 0; round < ROUNDS; round++) blocks.push(await measureLongestBlocks());
  const first = blocks.map((block) => block.first);
  const again = blocks.map((block) => block.again);
  return {
    title: "session/load of 10000 messages over ACP, from a file, in a new process",
    unit: "ms CPU, the longest tick of the event loop",
    measured: [
      { name: "the first load, which resumes the session", rounds: first },
      { name: "the second load", rounds: again },
    ],
    growth: [],
    ratios: [
      {
        text: "longest block of the event loop, ms CPU, first load [ACP-64]",
        value: computeMedian(first),
        target: 50,
        bound: "at most",
      },
    ],
  };
}

interface LoadBlocks {
  readonly first: number;
  readonly again: number;
}

async function measureLongestBlocks(): Promise<LoadBlocks> {
  const program = join(import.meta.dirname, "../programs/load-agent.js");
  const child = fork(program, [], { execArgv: ["--no-warnings"] });
  const [result] = await once(child, "message");
  await once(child, "exit");
  return result as LoadBlocks;
}
