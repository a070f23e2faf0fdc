import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ExchangeObserver } from "./exchange.ts";
import { registerProcess } from "./process-metrics.ts";

/** Counts what a server and its agents do. No label names a session, a caller or anything that was said. */
export interface Metrics extends ExchangeObserver {
  /** `outcome` is one of a few words, such as completed or failed. */
  turnEnded(outcome: string): void;
  tokensUsed(tokens: TokenCounts): void;
  /** All of it in the text form of Prometheus, and the content type of that. */
  text(): Promise<{ readonly type: string; readonly body: string }>;
  close(): void;
}

export interface TokenCounts {
  readonly input?: number;
  readonly cached?: number;
  readonly output?: number;
}

/** From a short answer to a long turn. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "spanline_http_requests_total",
    help: "Requests by the pattern of their route, and how they were answered; status 0 means not at all.",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "spanline_http_request_duration_seconds",
    help: "From the first byte of a request to the last of its answer.",
    labelNames: ["route", "method"],
    buckets: SECONDS,
    registers,
  });
  const open = {
    stream: gauge("spanline_http_open_streams", "Answers in pieces under way.", registers),
    socket: gauge("spanline_http_open_sockets", "WebSockets open.", registers),
  };
  const turns = new Counter({
    name: "spanline_turns_total",
    help: "Turns that ended, by their outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const tokens = new Counter({
    name: "spanline_tokens_total",
    help: "Tokens by kind. Cached ones are counted among the input too.",
    labelNames: ["kind"],
    registers,
  });
  const close = registerProcess(registry);
  return {
    ended({ route, method, status = 0, milliseconds }) {
      requests.inc({ route, method, status: String(status) });
      durations.observe({ route, method }, milliseconds / 1000);
    },
    open: (what, change) => open[what].inc(change),
    turnEnded: (outcome) => turns.inc({ outcome }),
    tokensUsed(counts) {
      for (const [kind, count] of Object.entries(counts)) {
        if (Number.isFinite(count) && count >= 0) tokens.inc({ kind }, count);
      }
    },
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
    close,
  };
}

function gauge(name: string, help: string, registers: Registry[]): Gauge {
  return new Gauge({ name, help, registers });
}
