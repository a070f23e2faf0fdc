import { startGateway, startUpstream } from "./gateway.ts";
import { sendHostile } from "./hostile-requests.ts";
import type { Row } from "./report.ts";

const REQUESTS = 33_000;
const CONNECTIONS = 32;
const SAMPLES = 10;
const MAX_MS = 900_000;

/** Memory of the gateway while clients send requests that it has to refuse, or leave in the middle. */
export async function hostileRow(count = REQUESTS): Promise<Row> {
  const upstream = await startUpstream();
  const gateway = await startGateway(upstream.url);
  upstream.speech = { words: 5, everyMs: 1 };
  const url = new URL(gateway.url);
  const resident: number[] = [];
  const start = performance.now();
  const every = Math.ceil(count / SAMPLES);
  let sent = 0;
  let finished = 0;
  const sample = async (): Promise<void> => {
    resident.push((await gateway.metric("process_resident_memory_bytes")) / 1e6);
  };
  try {
    const attack = async (): Promise<void> => {
      while (sent < count && performance.now() - start < MAX_MS) {
        await sendHostile(url, sent++);
        finished += 1;
        if (finished % every === 0) await sample();
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, attack));
    if (finished % every !== 0) await sample();
  } finally {
    await gateway.close();
    await upstream.close();
  }
  const seconds = (performance.now() - start) / 1000;
  return {
    title: `memory of the gateway over ${finished} hostile requests, ${(finished / seconds).toFixed(0)} a second`,
    unit: "MB",
    measured: resident.map((megabytes, at) => ({
      name: `resident after ${Math.min((at + 1) * every, finished)}`,
      rounds: [megabytes],
    })),
    growth: [],
    ratios: [
      {
        // A run that was stopped before its last request proves nothing and counts as missed.
        text: "resident at most, MB",
        value: finished === count ? Math.max(...resident) : Number.NaN,
        target: 300,
        wanted: "at most",
      },
    ],
  };
}
