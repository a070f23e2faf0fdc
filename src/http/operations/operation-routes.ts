import { waitWithTimeout } from "../../async/pause.ts";
import { formatThrown } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Access } from "../access/access.ts";
import { SECURITY_HEADERS, createJsonResponse } from "../routing/json-response.ts";
import type { Metrics } from "./metrics.ts";
import type { Route } from "../routing/router.ts";

export interface OperationOptions {
  readonly clock: Clock;
  /** Readiness checks by name. A check fails if it throws or exceeds `checkMs`. */
  readonly checks: { readonly [name: string]: () => Promise<void> };
  /** Time limit of a check. Default: 2 s. */
  readonly checkMs?: number;
  readonly metrics?: Metrics;
  /** Authenticates requests for metrics: every known caller may read them. */
  readonly access: Access;
  /** Receives the name and the reason of each failed check. The HTTP response contains only the name. */
  readonly onFailedCheck?: (name: string, message: string) => void;
}

const DEFAULT_CHECK_MS = 2000;

/** Routes for the operator: liveness (`/healthz`), readiness (`/readyz`) and metrics (`/metrics`). */
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
        throw new Error(`The check takes longer than ${checkMs} ms`);
      } catch (error) {
        onFailedCheck?.(name, formatThrown(error));
        return [name];
      }
    }),
  );
  return results.flat();
}
