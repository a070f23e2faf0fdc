import type { Metrics } from "./metrics.ts";

/** Loads the metrics library on first use, so that the server starts listening without waiting for it. */
export function createLazyMetrics(report: (error: unknown) => void): Metrics {
  let loaded: Metrics | undefined;
  let loading: Promise<Metrics> | undefined;
  const load = async (): Promise<Metrics> => {
    const { createMetrics } = await import("./metrics.ts");
    return (loaded = createMetrics());
  };
  const useMetrics = (count: (metrics: Metrics) => void): void => {
    if (loaded !== undefined) count(loaded);
    else (loading ??= load()).then(count).catch(report);
  };
  return {
    onEnd: (exchange) => useMetrics((metrics) => metrics.onEnd(exchange)),
    onOpenChange: (kind, change) => useMetrics((metrics) => metrics.onOpenChange?.(kind, change)),
    countTurn: (outcome) => useMetrics((metrics) => metrics.countTurn(outcome)),
    countTokens: (tokens) => useMetrics((metrics) => metrics.countTokens(tokens)),
    format: async () => (await (loading ??= load())).format(),
    close: () => loaded?.close(),
  };
}
