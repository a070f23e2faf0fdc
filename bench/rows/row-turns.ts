import { text } from "node:stream/consumers";
import { sendRequest, startGateway, startUpstream } from "../start-gateway.ts";
import type { Row } from "../report.ts";

const TURNS = 10_000;
const CONVERSATIONS = 16;
const MAX_MS = 240_000;

/** Memory of the gateway over many turns of a few long conversations. */
export async function measureTurns(): Promise<Row> {
  const upstream = await startUpstream();
  const gateway = await startGateway(upstream.url);
  upstream.pace = { words: 5, intervalMs: 0 };
  const rss: number[] = [];
  const heap: number[] = [];
  const start = performance.now();
  let turns = 0;
  try {
    const note = async (): Promise<void> => {
      rss.push((await gateway.readMetric("process_resident_memory_bytes")) / 1e6);
      heap.push((await gateway.readMetric("nodejs_heap_size_used_bytes")) / 1e6);
    };
    const converse = async (): Promise<void> => {
      let previous = {};
      while (turns < TURNS && performance.now() - start < MAX_MS) {
        turns += 1;
        if (turns % (TURNS / 10) === 0) await note();
        const body = { model: "bench", input: "Hello", ...previous };
        const answer = JSON.parse(
          await text(await sendRequest(`${gateway.url}/v1/responses`, body)),
        );
        if (answer.status !== "completed") throw new Error(JSON.stringify(answer));
        previous = { previous_response_id: answer.id };
      }
    };
    await Promise.all(Array.from({ length: CONVERSATIONS }, converse));
  } finally {
    await gateway.close();
    await upstream.close();
  }
  const seconds = (performance.now() - start) / 1000;
  return {
    title: `memory of the gateway over ${turns} turns in ${CONVERSATIONS} conversations, ${(turns / seconds).toFixed(0)} a second`,
    unit: "MB",
    measured: [
      ...rss.map((megabytes, at) => ({
        name: `resident after ${((at + 1) * TURNS) / 10}`,
        rounds: [megabytes],
      })),
      ...heap.map((megabytes, at) => ({
        name: `heap after ${((at + 1) * TURNS) / 10}`,
        rounds: [megabytes],
      })),
    ],
    growth: [],
    ratios: [
      {
        // A run stopped by the time limit proves nothing and counts as missed.
        text: "resident after all turns ÷ after three tenths",
        value: (rss[9] ?? Number.NaN) / (rss[2] ?? Number.NaN),
        target: 1.25,
        bound: "at most",
      },
    ],
  };
}
