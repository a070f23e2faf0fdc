import type { Gateway } from "./start-gateway.ts";
import type { Row } from "./report.ts";

const SAMPLES = 10;
const TARGET_MB = 300;

/** Work during which the gateway's memory is measured, done by several clients in parallel. */
export interface MemoryLoad {
  readonly title: string;
  readonly count: number;
  readonly connections: number;
  readonly maxMs: number;
  run(at: number): Promise<void>;
}

/** Runs the load and reports samples of the gateway's memory. */
export async function memoryUnder(gateway: Gateway, load: MemoryLoad): Promise<Row> {
  const { count, connections, maxMs } = load;
  const samples: { readonly after: number; readonly megabytes: number }[] = [];
  const start = performance.now();
  const every = Math.ceil(count / SAMPLES);
  let started = 0;
  let finished = 0;
  const work = async (): Promise<void> => {
    while (started < count && performance.now() - start < maxMs) {
      await load.run(started++);
      finished += 1;
      if (finished % every !== 0 && finished !== count) continue;
      const after = finished;
      const bytes = await gateway.readMetric("process_resident_memory_bytes");
      samples.push({ after, megabytes: bytes / 1e6 });
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  const perSecond = (1000 * finished) / (performance.now() - start);
  return {
    title: `memory of the gateway over ${finished} ${load.title}, ${perSecond.toFixed(0)} a second`,
    unit: "MB",
    measured: samples.map(({ after, megabytes }) => ({
      name: `resident after ${after}`,
      rounds: [megabytes],
    })),
    growth: [],
    ratios: [
      {
        // A run stopped by the time limit proves nothing and counts as missed.
        text: "resident at most, MB",
        value: finished === count ? await gateway.peakMemory() : Number.NaN,
        target: TARGET_MB,
        bound: "at most",
      },
    ],
  };
}
