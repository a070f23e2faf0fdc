import { waitWithTimeout } from "../../async/pause.ts";
import { formatThrown } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Access } from "../access/access.ts";
import { SECURITY_HEADERS, createJsonResponse } from "../routing/json-response.ts";
import type { Metrics } from "./metrics.ts";
import type { Route } from "../routing/router.ts";

export interface OperationOptions {
  readonly clock: Clock;
  /** What must work before requests are sent here, by name. One that throws, or takes too long, does not. */
  readonly checks: { readonly [name: string]: () => Promise<void> };
  /** How long a check may take, 2 s when it is not said. */
  readonly checkMs?: number;
  readonly metrics?: Metrics;
  /** Who may see the metrics: whoever may call at all. */
  readonly access: Access;
  /** Told why a check failed. Its caller only learns which one. */
  readonly onFailedCheck?: (name: string, message: string) => void;
}

const DEFAULT_CHECK_MS = 2000;

/** For whoever runs the server: whether it lives, whether it can work, and what it does. */
export function createOperationRoutes(options: OperationOptions): Route[] {
  const { metrics, access } = options;
  const operations: Route[] = [
    {
      method: "GET",
      path: "/healthz",
      handle: async () => createJsonResponse(200, { status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      async handle() {
        const failed = await findFailedChecks(options);
        return failed.length === 0
          ? createJsonResponse(200, { status: "ready" })
          : createJsonResponse(503, { status: "not ready", failed });
      },
    },
  ];
  if (metrics === undefined) return operations;
  return [
    ...operations,
    {
      method: "GET",
      path: "/metrics",
      async handle(request) {
        access.authenticate(request);
        const { type, body } = await metrics.format();
        const headers = { ...SECURITY_HEADERS, "content-type": type };
        return { status: 200, headers, body: Buffer.from(body) };
      },
    },
  ];
}

async function findFailedChecks(options: OperationOptions): Promise<string[]> {
  const { checks, checkMs = DEFAULT_CHECK_MS, clock, onFailedCheck } = options;
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        if ((await waitWithTimeout(clock, checkMs, check())) !== "late") return [];
        throw new Error(`It takes longer than ${checkMs} ms`);
      } catch (error) {
        onFailedCheck?.(name, formatThrown(error));
        return [name];
      }
    }),
  );
  return results.flat();
}
