import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  Agent,
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { encodeEvent } from "../src/wire/framing/eventstream-format.ts";

/** The response of the fake AgentCore agent: a number of words at a fixed interval, each with the prompt in it. */
export interface AgentPace {
  readonly words: number;
  readonly intervalMs: number;
  /** Pause before the first word. Default: 0. */
  readonly delayMs?: number;
}

export interface Upstream {
  readonly url: string;
  pace: AgentPace;
  /** Times at which invocations were disconnected before their end, by prompt. */
  readonly disconnectTimes: Map<string, number>;
  close(): Promise<void>;
}

/** Runs in this process, since the measured gateway runs in another. */
export async function startUpstream(): Promise<Upstream> {
  const disconnectTimes = new Map<string, number>();
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const prompt = readPrompt(await text(incoming));
    outgoing.on("close", () => {
      if (!outgoing.writableFinished) disconnectTimes.set(prompt, performance.now());
    });
    outgoing.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
    outgoing.write(encodeEvent("messageStart", { role: "assistant" }));
    const { words, intervalMs, delayMs = 0 } = upstream.pace;
    if (delayMs > 0) await pause(delayMs);
    for (let word = 0; word < words && !outgoing.destroyed; word++) {
      const delta = { text: `${prompt}:${word}:${performance.now().toFixed(3)} ` };
      outgoing.write(encodeEvent("contentBlockDelta", { contentBlockIndex: 0, delta }));
      if (intervalMs > 0) await pause(intervalMs);
    }
    if (outgoing.destroyed) return;
    outgoing.write(encodeEvent("contentBlockStop", { contentBlockIndex: 0 }));
    outgoing.end(encodeEvent("messageStop", { stopReason: "end_turn" }));
  };
  const server = createServer((incoming, outgoing) => void respond(incoming, outgoing));
  // On a busy machine a gateway may be late to close idle connections; this must not disturb the measurement.
  server.keepAliveTimeout = 120_000;
  server.headersTimeout = 0;
  const upstream: Upstream = {
    url: await startListening(server),
    pace: { words: 1, intervalMs: 0 },
    disconnectTimes,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return upstream;
}

function readPrompt(body: string): string {
  return /"text":"([^"]*)"/.exec(body)?.[1] ?? body;
}

export async function startListening(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface Gateway {
  readonly url: string;
  /** Reads a metric of the gateway's process from `/metrics`. */
  readMetric(name: string): Promise<number>;
  /** Peak resident memory since the start, in MB. On systems other than Linux: the current resident memory. */
  peakMemory(): Promise<number>;
  close(): Promise<void>;
}

const RESIDENT = "process_resident_memory_bytes";
const ARN = "arn:aws:bedrock-agentcore:eu-central-1:123456789012:harness/bench-0123456789";

/** Starts `spanline up` in a separate process with a single agent. */
export async function startGateway(upstream: string): Promise<Gateway> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bench-"));
  const config = join(folder, "bench.json");
  const provider = { type: "harness", arn: ARN, endpoint: upstream };
  writeFileSync(config, JSON.stringify({ agents: { bench: { provider } } }));
  const program = join(import.meta.dirname, "..", "..", "..", "dist", "cli", "main.js");
  const data = ["--config", config, "--data-dir", join(folder, "data")];
  const child = spawn(process.execPath, [program, "up", "--port", "0", "--json", ...data], {
    env: { ...process.env, AWS_ACCESS_KEY_ID: "bench", AWS_SECRET_ACCESS_KEY: "bench" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = JSON.parse(await readFirstLine(child)).url;
  const readMetric = async (name: string): Promise<number> => {
    const answer = await fetch(`${url}/metrics`);
    const lines = (await answer.text()).split("\n");
    return Number(
      lines
        .find((line) => line.startsWith(name))
        ?.split(" ")
        .at(-1),
    );
  };
  return {
    url,
    readMetric,
    async peakMemory() {
      if (process.platform !== "linux") return (await readMetric(RESIDENT)) / 1e6;
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return (Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
    },
    async close() {
      child.kill("SIGKILL");
      await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a program of `programs` in a separate process. Its first line of output is its URL. */
export async function startProgram(name: string, ...args: readonly string[]) {
  const program = join(import.meta.dirname, "programs", name);
  const child = spawn(process.execPath, ["--no-warnings", program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = (await readFirstLine(child)).trim();
  return {
    url,
    async close() {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

async function readFirstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error("The program has no output");
  for await (const line of createInterface(stdout)) return line;
  throw new Error("The program ended before it printed its URL");
}

/** Connections are kept alive, as real clients do. */
const agent = new Agent({ keepAlive: true, maxSockets: 1000 });

/** Sends a request. The caller reads the response body. */
export function sendRequest(
  url: string,
  body: object | null,
  signal?: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const method = body === null ? "GET" : "POST";
    const headers = { "content-type": "application/json" };
    const outgoing = send(url, { method, headers, agent, ...(signal && { signal }) }, resolve);
    outgoing.on("error", reject);
    outgoing.end(body === null ? undefined : JSON.stringify(body));
  });
}

export function computePercentile(values: readonly number[], fraction: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))] ?? Number.NaN;
}
