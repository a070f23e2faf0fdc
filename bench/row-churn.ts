import { text } from "node:stream/consumers";
import { call, startGateway, startUpstream } from "./gateway.ts";
import type { Row } from "./report.ts";

const SESSIONS = 50_000;
const CONNECTIONS = 32;
const SAMPLES = 10;
const MAX_MS = 1_500_000;

/** Memory of the gateway while many callers open a session each, submit one prompt and never return. */
export async function churnRow(count = SESSIONS): Promise<Row> {
  const upstream = await startUpstream();
  const gateway = await startGateway(upstream.url);
  upstream.speech = { words: 5, everyMs: 0 };
  const resident: number[] = [];
  const start = performance.now();
  const every = Math.ceil(count / SAMPLES);
  let sessions = 0;
  let finished = 0;
  try {
    const submit = async (): Promise<void> => {
      while (sessions < count && performance.now() - start < MAX_MS) {
        sessions += 1;
        const body = { model: "bench", input: `Hello ${sessions}` };
        const response = JSON.parse(await text(await call(`${gateway.url}/v1/responses`, body)));
        if (response.status !== "completed") throw new Error(JSON.stringify(response));
        finished += 1;
        if (finished % every !== 0) continue;
        resident.push((await gateway.metric("process_resident_memory_bytes")) / 1e6);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, submit));
    if (finished % every !== 0)
      resident.push((await gateway.metric("process_resident_memory_bytes")) / 1e6);
  } finally {
    await gateway.close();
    await upstream.close();
  }
  const seconds = (performance.now() - start) / 1000;
  return {
    title: `memory of the gateway over ${finished} sessions of one turn, ${(finished / seconds).toFixed(0)} a second`,
    unit: "MB",
    measured: resident.map((megabytes, at) => ({
      name: `resident after ${Math.min((at + 1) * every, finished)}`,
      rounds: [megabytes],
    })),
    growth: [],
    ratios: [
      {
        // A run that was stopped before its last session proves nothing and counts as missed.
        text: "resident at most, MB",
        value: finished === count ? Math.max(...resident) : Number.NaN,
        target: 300,
        wanted: "at most",
      },
    ],
  };
}
