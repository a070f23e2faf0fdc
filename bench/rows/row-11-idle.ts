import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Row } from "../report.ts";

/** Memory of idle sessions after their eviction, and the time to load one again. */
export async function measureIdle(): Promise<Row> {
  const program = join(import.meta.dirname, "../programs/idle-sessions.js");
  const child = fork(program, [], { execArgv: ["--expose-gc", "--no-warnings"] });
  const [result] = await once(child, "message");
  const { bytes, wakes } = result as { readonly bytes: number; readonly wakes: readonly number[] };
  return {
    title: "idle sessions of 200 messages, evicted from memory",
    unit: "ms to wake",
    measured: [{ name: "the first command after the eviction", rounds: wakes }],
    growth: [],
    ratios: [
      {
        text: "sessions per GB",
        value: 2 ** 30 / Math.max(bytes, 1),
        target: 300_000,
        bound: "at least",
      },
    ],
  };
}
