import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  call,
  percentile,
  startGateway,
  startProgram,
  startUpstream,
  type Gateway,
  type Speech,
  type Upstream,
} from "./gateway.ts";
import { median } from "./measure.ts";
import type { Row } from "./report.ts";

const ROUNDS = 150;
const WARM_UP = 30;
const STREAMS = 200;
/** 4,000 deltas a second in all, and 20,000. */
const CALM = { words: 40, everyMs: 50 };
const DENSE = { words: 200, everyMs: 10 };
const CANCELS = 30;

/**
 * From a request to its first delta [OR-20], through the gateway with its log, and through a bare pipe; then 200 streams at once, which
 * must not mix [OR-44]: how late each delta comes, and at 20,000 a second how much later than through the pipe [AC-100]; how
 * late the gateway's loop is, and how soon a call is closed whose caller hangs up [OR-47].
 */
export async function gatewayRow(): Promise<Row> {
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
      straight.push(await firstDelta(upstream.url, { text: "hi" }));
      piped.push(await firstDelta(pipe.url, { text: "hi" }));
      durable.push(await firstDelta(synced.url, { text: "hi" }));
      through.push(await firstDelta(`${gateway.url}/v1/responses`, prompt("hi")));
    }
    const [direct = [], bare = [], kept = [], ours = []] = [straight, piped, durable, through].map(
      (all) => all.slice(WARM_UP),
    );
    await gateway.metric("nodejs_eventloop_delay_seconds");
    const ways = {
      ours: { url: `${gateway.url}/v1/responses`, bodyOf: prompt, wordsIn: wordsInDelta },
      bare: { url: pipe.url, bodyOf: (name: string) => ({ text: name }), wordsIn: wordsInBytes },
    };
    const late = await delays(ways.ours, upstream, CALM);
    const loop = 1000 * (await gateway.metric('nodejs_eventloop_delay_seconds{quantile="0.99"}'));
    const dense = await delays(ways.ours, upstream, DENSE);
    const denseBare = await delays(ways.bare, upstream, DENSE);
    const added = percentile(dense, 0.99) - percentile(denseBare, 0.99);
    const cancels = await cancelTimes(gateway, upstream);
    return {
      title: "gateway: from a request to its first delta, through the log on the disk",
      unit: "ms",
      measured: [
        { name: "straight from the agent", rounds: direct },
        { name: "through a bare pipe", rounds: bare },
        { name: "through a pipe with one synced SQLite append", rounds: kept },
        { name: "through spanline", rounds: ours },
        { name: "through a bare pipe, p99", rounds: [percentile(bare, 0.99)] },
        { name: "through spanline, p99", rounds: [percentile(ours, 0.99)] },
        {
          name: `${STREAMS} streams at once: a delta is late by, p50`,
          rounds: [percentile(late, 0.5)],
        },
        {
          name: `${STREAMS} streams at once: a delta is late by, p99`,
          rounds: [percentile(late, 0.99)],
        },
        { name: `${STREAMS} streams at once: the loop is late by, p99`, rounds: [loop] },
        { name: "20,000 deltas a second: late by, p99", rounds: [percentile(dense, 0.99)] },
        {
          name: "20,000 deltas a second through a bare pipe: late by, p99",
          rounds: [percentile(denseBare, 0.99)],
        },
        { name: "from a hang-up to the end of the agent's call", rounds: cancels },
      ],
      growth: [],
      ratios: [
        {
          text: "spanline ÷ pipe with one synced append, from the request on",
          value: median(ours) / median(kept),
          target: 1.5,
          wanted: "at most",
        },
        {
          text: "ms that the gateway adds to the p99 of a delta, at 20,000 a second",
          value: added,
          target: 2,
          wanted: "at most",
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

function prompt(input: string) {
  return { model: "bench", input, stream: true };
}

async function firstDelta(url: string, body: object): Promise<number> {
  const start = performance.now();
  let first = Number.NaN;
  for await (const piece of await call(url, body)) {
    if (Number.isNaN(first) && String(piece).includes("hi:0:")) first = performance.now() - start;
  }
  return first;
}

/** A way to the agent, and how what it says is found in what comes back that way. */
interface Way {
  readonly url: string;
  bodyOf(name: string): object;
  /** The words in some text, and where what they are not found in yet begins. */
  wordsIn(text: string): { readonly words: readonly string[]; readonly rest: string };
}

function wordsInDelta(text: string): ReturnType<Way["wordsIn"]> {
  const frames = text.split("\n\n");
  const rest = frames.pop() ?? "";
  const words = frames
    .filter((frame) => frame.startsWith("event: response.output_text.delta"))
    .map((frame): string => JSON.parse(frame.slice(frame.indexOf("data: ") + 6)).delta)
    .flatMap((delta) => delta.trim().split(" "));
  return { words, rest };
}

function wordsInBytes(text: string): ReturnType<Way["wordsIn"]> {
  const found = [...text.matchAll(/stream-\d+:\d+:[\d.]+ /g)];
  const last = found.at(-1);
  const rest = last === undefined ? text : text.slice(last.index + last[0].length);
  return { words: found.map(([word]) => word.trim()), rest };
}

/** How late each delta of many streams comes. Throws where one gets what is another's, or not all of its own. */
async function delays(way: Way, upstream: Upstream, speech: Speech): Promise<number[]> {
  upstream.speech = speech;
  const late: number[] = [];
  const read = async (name: string): Promise<void> => {
    const words: string[] = [];
    let text = "";
    for await (const piece of await call(way.url, way.bodyOf(name))) {
      const now = performance.now();
      const found = way.wordsIn(text + piece.toString("latin1"));
      text = found.rest;
      for (const word of found.words) {
        const [of, at, sent] = word.split(":");
        words.push(`${of}:${at}`);
        late.push(now - Number(sent));
      }
    }
    const own = Array.from({ length: speech.words }, (_, at) => `${name}:${at}`);
    if (words.join() !== own.join()) throw new Error(`${name} got ${words.join()}`);
  };
  await Promise.all(Array.from({ length: STREAMS }, (_, at) => read(`stream-${at}`)));
  return late;
}

async function cancelTimes(gateway: Gateway, upstream: Upstream): Promise<number[]> {
  upstream.speech = { words: 1000, everyMs: 20 };
  const times: number[] = [];
  for (let round = 0; round < CANCELS; round++) {
    const name = `cancelled-${round}`;
    const caller = new AbortController();
    const answer = await call(`${gateway.url}/v1/responses`, prompt(name), caller.signal);
    await new Promise<void>((resolve) => {
      answer.on("data", (piece) => String(piece).includes(`${name}:3:`) && resolve());
      answer.on("error", () => {});
    });
    const start = performance.now();
    caller.abort();
    while (!upstream.hungUp.has(name)) await pause(1);
    times.push((upstream.hungUp.get(name) ?? Number.NaN) - start);
  }
  return times;
}
