import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

/**
 * The process itself, looked at whenever somebody asks. The names are those that dashboards know. Gives back how to stop
 * measuring.
 */
export function registerProcessMetrics(registry: Registry): () => void {
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
    help: "How late the event loop was since somebody last asked.",
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
  ["process_uptime_seconds", "Since the process began.", () => process.uptime()],
];
