import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { median } from "./measure.ts";
import type { Row } from "./report.ts";

const ROUNDS = 3;

/** How long a load of 10,000 messages keeps the loop from everybody else, at most [ACP-64]. */
export async function loadRow(): Promise<Row> {
  const blocks: Blocks[] = [];
  for (let round = 0; round < ROUNDS; round++) blocks.push(await longestBlocks());
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
        value: median(first),
        target: 50,
        wanted: "at most",
      },
    ],
  };
}

interface Blocks {
  readonly first: number;
  readonly again: number;
}

async function longestBlocks(): Promise<Blocks> {
  const program = join(import.meta.dirname, "load-agent.js");
  const child = fork(program, [], { execArgv: ["--no-warnings"] });
  const [told] = await once(child, "message");
  await once(child, "exit");
  return told as Blocks;
}
