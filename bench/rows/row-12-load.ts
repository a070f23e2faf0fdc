import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const ROUNDS = 3;

/** How long a load of 10,000 messages keeps the loop from everybody else, at most [ACP-64]. */
export async function measureLoad(): Promise<Row> {
  const blocks: LoadBlocks[] = [];
  for (let round = 0; round < ROUNDS; round++) blocks.push(await measureLongestBlocks());
  const first = blocks.map((block) => block.first);
  const again = blocks.map((block) => block.again);
  return {
    title: "session/load of 10000 messages over ACP, from a file, in a new process",
    unit: "ms CPU, the longest turn of the loop",
    measured: [
      { name: "the first load, which takes the session up", rounds: first },
      { name: "the next one", rounds: again },
    ],
    growth: [],
    ratios: [
      {
        text: "ms CPU in which nobody else has the loop, the first load [ACP-64]",
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
  const [told] = await once(child, "message");
  await once(child, "exit");
  return told as LoadBlocks;
}
