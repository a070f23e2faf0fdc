import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ExchangeObserver } from "../server/http-exchange.ts";

/** Prometheus metrics of a server and its agents. No label contains a session, a caller or message content. */
export interface Metrics extends ExchangeObserver {
  /** `outcome` has few distinct values, such as completed or failed. */
  countTurn(outcome: string): void;
  countTokens(tokens: TokenCounts): void;
  /** All metrics in the Prometheus text format, with its content type. */
  format(): Promise<{ readonly type: string; readonly body: string }>;
  close(): void;
}

export interface TokenCounts {
  readonly input?: number;
  readonly cached?: number;
  readonly output?: number;
}

/** Seconds, from a short response to a long turn. */
const DURATION_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "spanline_http_requests_total",
    help: "Requests by route pattern, method and status; status 0 means that no response was sent.",
    labelNames: ["route", "method", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "spanline_http_request_duration_seconds",
    help: "From the first byte of a request to the last byte of its response.",
    labelNames: ["route", "method"],
    buckets: DURATION_BUCKETS,
    registers,
  });
  const open = {
    stream: createGauge("spanline_http_open_streams", "Open streamed responses.", registers),
    socket: createGauge("spanline_http_open_sockets", "WebSockets open.", registers),
  };
  const turns = new Counter({
    name: "spanline_turns_total",
    help: "Turns that ended, by their outcome.",
    labelNames: ["outcome"],
    registers,
  });
  const tokens = new Counter({
    name: "spanline_tokens_total",
    help: "Tokens by kind. Cached tokens are also counted as input.",
    labelNames: ["kind"],
    registers,
  });
  const close = registerProcessMetrics(registry);
  return {
    onEnd({ route, method, status = 0, milliseconds }) {
      requests.inc({ route, method, status: String(status) });
      durations.observe({ route, method }, milliseconds / 1000);
    },
    onOpenChange: (kind, change) => open[kind].inc(change),
    countTurn: (outcome) => turns.inc({ outcome }),
    countTokens(counts) {
      for (const [kind, count] of Object.entries(counts)) {
        if (Number.isFinite(count) && count >= 0) tokens.inc({ kind }, count);
      }
    },
    format: async () => ({ type: registry.contentType, body: await registry.metrics() }),
    close,
  };
}

function createGauge(name: string, help: string, registers: Registry[]): Gauge {
  return new Gauge({ name, help, registers });
}

/**
 * Registers the metrics of the process, read at each scrape. The names follow the Node.js conventions of `prom-client`,
 * so common dashboards work. Returns a function which stops the event loop monitor.
 */
function registerProcessMetrics(registry: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  for (const [name, help, value] of PROCESS_GAUGES) {
    const collect = function (this: Gauge): void {
      this.set(value());
    };
    registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
  }
  const eventLoop = new Gauge({
    name: "nodejs_eventloop_delay_seconds",
    help: "Event loop delay since the last scrape.",
    labelNames: ["quantile"],
    registers: [],
    collect() {
      for (const quantile of [50, 99, 100]) {
        this.set({ quantile: String(quantile / 100) }, delay.percentile(quantile) / 1e9);
      }
      delay.reset();
    },
  });
  registry.registerMetric(eventLoop);
  return () => void delay.disable();
}

const PROCESS_GAUGES: readonly (readonly [name: string, help: string, value: () => number])[] = [
  ["process_resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss()],
  ["nodejs_heap_size_used_bytes", "Used heap.", () => process.memoryUsage().heapUsed],
  [
    "process_cpu_seconds_total",
    "Processor time.",
    () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  ],
  ["process_uptime_seconds", "Seconds since the process started.", () => process.uptime()],
];
