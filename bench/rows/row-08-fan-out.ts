import {
  sendRequest,
  startGateway,
  startProgram,
  startUpstream,
  type Upstream,
} from "../start-gateway.ts";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const OBSERVERS = 200;
/**
 * Slower than the batching interval, so that each word is a separate event. All observers are connected before the
 * first.
 */
const PACE = { words: 150, intervalMs: 20, delayMs: 2000 };
const ROUNDS = 3;

/** A turn followed by 200 observers as server-sent events: the cost per event and observer. */
export async function measureFanOut(): Promise<Row> {
  const upstream = await startUpstream();
  const bare = await startProgram("bare-events.js", upstream.url);
  const gateway = await startGateway(upstream.url);
  const readCpu = (): Promise<number> => gateway.readMetric("process_cpu_seconds_total");
  const routes: readonly FanOutRoute[] = [
    {
      name: "bare loop: written out once, sent to all",
      readCpu: async () => Number(await (await fetch(`${bare.url}/cpu`)).text()),
      async startTurn(words) {
        void sendRequest(bare.url, { text: words });
        return bare.url;
      },
    },
    {
      name: "spanline, the log for pages",
      readCpu,
      async startTurn(words) {
        const { session_id: session } = await startBackgroundTurn(gateway.url, words);
        return `${gateway.url}/api/sessions/${session}/events`;
      },
    },
    {
      name: "spanline, /v1/responses",
      readCpu,
      startTurn: async (words) =>
        `${gateway.url}/v1/responses/${(await startBackgroundTurn(gateway.url, words)).id}?stream=true`,
    },
  ];
  const measured = routes.map(({ name }) => ({ name, rounds: [] as number[] }));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [at, way] of routes.entries()) {
        measured[at]?.rounds.push(await measureCost(way, `round-${round}-${at}`, upstream));
      }
    }
  } finally {
    await gateway.close();
    await bare.close();
    await upstream.close();
  }
  const [loop = Number.NaN, ...ours] = measured.map(({ rounds }) => computeMedian(rounds));
  return {
    title: `one turn to ${OBSERVERS} observers, as server-sent events`,
    unit: "µs CPU/event and observer",
    measured,
    growth: [],
    ratios: ours.map((cost, at) => ({
      text: `bare loop ÷ ${routes[at + 1]?.name}`,
      value: loop / cost,
      target: 0.7,
      bound: "at least",
    })),
  };
}

interface FanOutRoute {
  readonly name: string;
  /** CPU seconds of the server's process. */
  readonly readCpu: () => Promise<number>;
  /** Starts a turn and returns the URL of its events. */
  readonly startTurn: (words: string) => Promise<string>;
}

/** Starts a background turn, which runs without an observer. */
async function startBackgroundTurn(
  url: string,
  input: string,
): Promise<{ id: string; session_id: string }> {
  const answer = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", input, background: true }),
  });
  return JSON.parse(await answer.text());
}

/** Measures from the moment all observers are connected until all have received the last word. */
async function measureCost(
  { readCpu: cpu, startTurn }: FanOutRoute,
  words: string,
  upstream: Upstream,
): Promise<number> {
  upstream.pace = PACE;
  const address = await startTurn(words);
  const leave = new AbortController();
  const answers = await Promise.all(
    Array.from({ length: OBSERVERS }, () => sendRequest(address, null, leave.signal)),
  );
  const before = await cpu();
  const last = `:${PACE.words - 1}:`;
  await Promise.all(
    answers.map(async (answer) => {
      for await (const piece of answer) if (String(piece).includes(last)) return;
      throw new Error("A stream ended before its last word");
    }),
  );
  const spent = (await cpu()) - before;
  leave.abort();
  return (spent * 1e6) / (PACE.words * OBSERVERS);
}
