import { call, startGateway, startProgram, startUpstream, type Upstream } from "./gateway.ts";
import { median } from "./measure.ts";
import type { Row } from "./report.ts";

const OBSERVERS = 200;
/** Slower than pieces of a text are gathered: each is an event of its own. All are there before the first. */
const SPEECH = { words: 150, everyMs: 20, afterMs: 2000 };
const ROUNDS = 3;

/** One turn that 200 others follow, as server-sent events: what it costs to bring one event to one of them. */
export async function fanOutRow(): Promise<Row> {
  const upstream = await startUpstream();
  const bare = await startProgram("bare-events.js", upstream.url);
  const gateway = await startGateway(upstream.url);
  const cpu = (): Promise<number> => gateway.metric("process_cpu_seconds_total");
  const ways: readonly Way[] = [
    {
      name: "bare loop: written out once, sent to all",
      cpu: async () => Number(await (await fetch(`${bare.url}/cpu`)).text()),
      async begin(words) {
        void call(bare.url, { text: words });
        return bare.url;
      },
    },
    {
      name: "spanline, the log for pages",
      cpu,
      async begin(words) {
        const { session_id: session } = await begun(gateway.url, words);
        return `${gateway.url}/api/sessions/${session}/events`;
      },
    },
    {
      name: "spanline, /v1/responses",
      cpu,
      begin: async (words) =>
        `${gateway.url}/v1/responses/${(await begun(gateway.url, words)).id}?stream=true`,
    },
  ];
  const measured = ways.map(({ name }) => ({ name, rounds: [] as number[] }));
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [at, way] of ways.entries()) {
        measured[at]?.rounds.push(await costOf(way, `round-${round}-${at}`, upstream));
      }
    }
  } finally {
    await gateway.close();
    await bare.close();
    await upstream.close();
  }
  const [loop = Number.NaN, ...ours] = measured.map(({ rounds }) => median(rounds));
  return {
    title: `one turn to ${OBSERVERS} observers, as server-sent events`,
    unit: "µs CPU/event and observer",
    measured,
    growth: [],
    ratios: ours.map((cost, at) => ({
      text: `bare loop ÷ ${ways[at + 1]?.name}`,
      value: loop / cost,
      target: 0.7,
      wanted: "at least",
    })),
  };
}

interface Way {
  readonly name: string;
  /** Seconds that the process of the server has spent. */
  readonly cpu: () => Promise<number>;
  /** Begins a turn, and says where it can be followed. */
  readonly begin: (words: string) => Promise<string>;
}

/** A turn in the background, which nobody has to follow. */
async function begun(url: string, input: string): Promise<{ id: string; session_id: string }> {
  const answer = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "bench", input, background: true }),
  });
  return JSON.parse(await answer.text());
}

/** From when all are there until all have seen the last word. */
async function costOf({ cpu, begin }: Way, words: string, upstream: Upstream): Promise<number> {
  upstream.speech = SPEECH;
  const address = await begin(words);
  const leave = new AbortController();
  const answers = await Promise.all(
    Array.from({ length: OBSERVERS }, () => call(address, null, leave.signal)),
  );
  const before = await cpu();
  const last = `:${SPEECH.words - 1}:`;
  await Promise.all(
    answers.map(async (answer) => {
      for await (const piece of answer) if (String(piece).includes(last)) return;
      throw new Error("A stream ended before its last word");
    }),
  );
  const spent = (await cpu()) - before;
  leave.abort();
  return (spent * 1e6) / (SPEECH.words * OBSERVERS);
}
