import type { Metrics } from "./metrics.ts";

/** Metrics whose library is loaded when there is something to count: nobody waits for it before the server listens. */
export function lazyMetrics(report: (error: unknown) => void): Metrics {
  let loaded: Metrics | undefined;
  let loading: Promise<Metrics> | undefined;
  const load = async (): Promise<Metrics> => {
    const { createMetrics } = await import("./metrics.ts");
    return (loaded = createMetrics());
  };
  const using = (count: (metrics: Metrics) => void): void => {
    if (loaded !== undefined) count(loaded);
    else (loading ??= load()).then(count).catch(report);
  };
  return {
    ended: (exchange) => using((metrics) => metrics.ended(exchange)),
    open: (what, change) => using((metrics) => metrics.open?.(what, change)),
    turnEnded: (outcome) => using((metrics) => metrics.turnEnded(outcome)),
    tokensUsed: (tokens) => using((metrics) => metrics.tokensUsed(tokens)),
    text: async () => (await (loading ??= load())).text(),
    close: () => loaded?.close(),
  };
}
