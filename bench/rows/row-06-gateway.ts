import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  sendRequest,
  computePercentile,
  startGateway,
  startProgram,
  startUpstream,
  type Gateway,
  type AgentPace,
  type Upstream,
} from "../start-gateway.ts";
import { computeMedian } from "../measure.ts";
import type { Row } from "../report.ts";

const ROUNDS = 150;
const WARM_UP = 30;
const STREAMS = 200;
/** 4,000 deltas per second in total, and 20,000. */
const CALM = { words: 40, intervalMs: 50 };
const DENSE = { words: 200, intervalMs: 10 };
const CANCELS = 30;

/**
 * Time from a request to its first delta [OR-20], through the gateway with its log and through a bare pipe. Then 200
 * concurrent streams, which must not mix [OR-44]: the delay of each delta, and at 20,000 deltas per second the delay
 * added to the pipe's [AC-100]; the delay of the gateway's event loop, and the time from a client's disconnect to the
 * end of the upstream invocation [OR-47].
 */
export async function measureGateway(): Promise<Row> {
  const upstream = await startUpstream();
  const pipe = await startProgram("bare-pipe.js", upstream.url);
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const synced = await startProgram("bare-pipe.js", upstream.url, join(folder, "pipe.db"));
  const gateway = await startGateway(upstream.url);
  try {
    const straight: number[] = [];
    const piped: number[] = [];
    const durable: number[] = [];
    const through: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      straight.push(await measureFirstDelta(upstream.url, { text: "hi" }));
      piped.push(await measureFirstDelta(pipe.url, { text: "hi" }));
      durable.push(await measureFirstDelta(synced.url, { text: "hi" }));
      through.push(await measureFirstDelta(`${gateway.url}/v1/responses`, createPrompt("hi")));
    }
    const [direct = [], bare = [], kept = [], ours = []] = [straight, piped, durable, through].map(
      (all) => all.slice(WARM_UP),
    );
    await gateway.readMetric("nodejs_eventloop_delay_seconds");
    const routes = {
      ours: {
        url: `${gateway.url}/v1/responses`,
        createBody: createPrompt,
        parseWords: parseDeltaWords,
      },
      bare: {
        url: pipe.url,
        createBody: (name: string) => ({ text: name }),
        parseWords: parseByteWords,
      },
    };
    const delayValues = await measureDelays(routes.ours, upstream, CALM);
    const loop =
      1000 * (await gateway.readMetric('nodejs_eventloop_delay_seconds{quantile="0.99"}'));
    const dense = await measureDelays(routes.ours, upstream, DENSE);
    const denseBare = await measureDelays(routes.bare, upstream, DENSE);
    const added = computePercentile(dense, 0.99) - computePercentile(denseBare, 0.99);
    const cancels = await measureCancelTimes(gateway, upstream);
    return {
      title: "gateway: from a request to its first delta, through the log on the disk",
      unit: "ms",
      measured: [
        { name: "straight from the agent", rounds: direct },
        { name: "through a bare pipe", rounds: bare },
        { name: "through a pipe with one synced SQLite append", rounds: kept },
        { name: "through spanline", rounds: ours },
        { name: "through a bare pipe, p99", rounds: [computePercentile(bare, 0.99)] },
        { name: "through spanline, p99", rounds: [computePercentile(ours, 0.99)] },
        {
          name: `${STREAMS} streams at once: a delta is late by, p50`,
          rounds: [computePercentile(delayValues, 0.5)],
        },
        {
          name: `${STREAMS} streams at once: a delta is late by, p99`,
          rounds: [computePercentile(delayValues, 0.99)],
        },
        { name: `${STREAMS} streams at once: the loop is late by, p99`, rounds: [loop] },
        { name: "20,000 deltas a second: late by, p99", rounds: [computePercentile(dense, 0.99)] },
        {
          name: "20,000 deltas a second through a bare pipe: late by, p99",
          rounds: [computePercentile(denseBare, 0.99)],
        },
        { name: "from a hang-up to the end of the agent's call", rounds: cancels },
      ],
      growth: [],
      ratios: [
        {
          text: "spanline ÷ pipe with one synced append, from the request on",
          value: computeMedian(ours) / computeMedian(kept),
          target: 1.5,
          bound: "at most",
        },
        {
          text: "ms that the gateway adds to the p99 of a delta, at 20,000 a second",
          value: added,
          target: 2,
          bound: "at most",
        },
      ],
    };
  } finally {
    await gateway.close();
    await pipe.close();
    await synced.close();
    rmSync(folder, { recursive: true, force: true });
    await upstream.close();
  }
}

function createPrompt(input: string) {
  return { model: "bench", input, stream: true };
}

async function measureFirstDelta(url: string, body: object): Promise<number> {
  const start = performance.now();
  let first = Number.NaN;
  for await (const piece of await sendRequest(url, body)) {
    if (Number.isNaN(first) && String(piece).includes("hi:0:")) first = performance.now() - start;
  }
  return first;
}

/** A route to the agent, with the parser for its response. */
interface GatewayRoute {
  readonly url: string;
  createBody(name: string): object;
  /** Returns the complete words and the unparsed remainder. */
  parseWords(text: string): { readonly words: readonly string[]; readonly remainder: string };
}

function parseDeltaWords(text: string): ReturnType<GatewayRoute["parseWords"]> {
  const frames = text.split("\n\n");
  const remainder = frames.pop() ?? "";
  const words = frames
    .filter((frame) => frame.startsWith("event: response.output_text.delta"))
    .map((frame): string => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)).delta)
    .flatMap((delta) => delta.trim().split(" "));
  return { words, remainder };
}

function parseByteWords(text: string): ReturnType<GatewayRoute["parseWords"]> {
  const matches = [...text.matchAll(/stream-\d+:\d+:[\d.]+ /g)];
  const last = matches.at(-1);
  const remainder = last === undefined ? text : text.slice(last.index + last[0].length);
  return { words: matches.map(([word]) => word.trim()), remainder };
}

/** The delay of each delta of many streams. Throws if a stream receives foreign words or misses its own. */
async function measureDelays(
  route: GatewayRoute,
  upstream: Upstream,
  speech: AgentPace,
): Promise<number[]> {
  upstream.pace = speech;
  const delayValues: number[] = [];
  const read = async (name: string): Promise<void> => {
    const words: string[] = [];
    let text = "";
    for await (const piece of await sendRequest(route.url, route.createBody(name))) {
      const now = performance.now();
      const parsed = route.parseWords(text + piece.toString("latin1"));
      text = parsed.remainder;
      for (const word of parsed.words) {
        const [of, at, sent] = word.split(":");
        words.push(`${of}:${at}`);
        delayValues.push(now - Number(sent));
      }
    }
    const own = Array.from({ length: speech.words }, (_, at) => `${name}:${at}`);
    if (words.join() !== own.join()) throw new Error(`${name} got ${words.join()}`);
  };
  await Promise.all(Array.from({ length: STREAMS }, (_, at) => read(`stream-${at}`)));
  return delayValues;
}

/** Milliseconds from a client's disconnect to the close of the upstream connection. */
async function measureCancelTimes(gateway: Gateway, upstream: Upstream): Promise<number[]> {
  upstream.pace = { words: 1000, intervalMs: 20 };
  const times: number[] = [];
  for (let round = 0; round < CANCELS; round++) {
    const name = `cancelled-${round}`;
    const caller = new AbortController();
    const answer = await sendRequest(
      `${gateway.url}/v1/responses`,
      createPrompt(name),
      caller.signal,
    );
    await new Promise<void>((resolve) => {
      answer.on("data", (piece) => String(piece).includes(`${name}:3:`) && resolve());
      answer.on("error", () => {});
    });
    const start = performance.now();
    caller.abort();
    while (!upstream.disconnectTimes.has(name)) await pause(1);
    times.push((upstream.disconnectTimes.get(name) ?? Number.NaN) - start);
  }
  return times;
}
