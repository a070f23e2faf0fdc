import { expect, onTestFinished } from "vitest";
import { createAccess } from "../../../src/http/access/access.ts";
import { createAccessLog } from "../../../src/http/operations/access-log.ts";
import type { AccessKey } from "../../../src/http/access/access-keys.ts";
import { formatOpenAiError } from "../../../src/http/routing/openai-errors.ts";
import type { SocketLimits } from "../../../src/http/sockets/open-socket.ts";
import { createRateLimits, type RateLimitOptions } from "../../../src/http/access/rate-limits.ts";
import { createRequestId } from "../../../src/http/routing/http-request-id.ts";
import { createRouter } from "../../../src/http/routing/router.ts";
import type { ResponsesSettings } from "../../../src/domain/responses-settings.ts";
import { startHttpServer } from "../../../src/http/server/start-server.ts";
import { createWebSockets } from "../../../src/http/sockets/web-sockets.ts";
import { systemClock, type SteadyClock } from "../../../src/platform/clock.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { TurnSummary } from "../../../src/surfaces/responses/responses-options.ts";
import { createResponsesSurface } from "../../../src/surfaces/responses/responses-surface.ts";
import { checkedSurface } from "./checked-surface.ts";
import type { Target } from "./target.ts";

export interface Serving {
  readonly agents: readonly Agent[];
  readonly store?: Store;
  /** Clock of the surface and of the sessions. */
  readonly clock?: SteadyClock;
  readonly settings?: Partial<ResponsesSettings>;
  readonly keys?: readonly AccessKey[];
  readonly rates?: RateLimitOptions;
  readonly socketLimits?: SocketLimits;
  readonly bodyBytes?: number;
  readonly newSessionId?: () => string;
  /** Deterministic id seed for the sessions. */
  readonly seed?: () => string;
  readonly coalesceMs?: number;
}

export interface ServedSessions extends Target {
  readonly sessions: RunningSessions;
  /** Lines of the access log. */
  readonly lines: readonly string[];
  /** Turn summaries, as the metrics receive them. */
  readonly ends: readonly TurnSummary[];
  /** Reported errors which no caller received. */
  readonly reports: readonly unknown[];
  /** Rejects if any bug was reported. */
  close(): Promise<void>;
  /** Stops the server and aborts running turns, as a stop of the process does. */
  stop(): Promise<void>;
}

/** Serves the real surface over real sessions on a real socket until the test ends. Every stream is validated. */
export async function serveSessions(serving: Serving): Promise<ServedSessions> {
  const { agents, store = createMemoryStore(), clock = systemClock, keys, bodyBytes } = serving;
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const { seed, coalesceMs } = serving;
  const sessions = createSessions({
    store,
    agents,
    clock,
    owner: "test",
    report,
    ...(seed !== undefined && { seed }),
    ...(coalesceMs !== undefined && { coalesceMs }),
  });
  const host = "127.0.0.1";
  const ends: TurnSummary[] = [];
  const options = {
    observe: (end: TurnSummary) => void ends.push(end),
    sessions,
    clock,
    access: createAccess({ host, ...(keys !== undefined && { keys }) }),
    settings: { adoptSessions: true, ...serving.settings },
    report,
    ...(serving.rates !== undefined && { rates: createRateLimits(serving.rates, clock) }),
    ...(serving.newSessionId !== undefined && { newSessionId: serving.newSessionId }),
  };
  const problems: string[] = [];
  const surface = checkedSurface(createResponsesSurface(options), (problem) =>
    problems.push(problem),
  );
  const lines: string[] = [];
  const observers = [
    createAccessLog({ clock: systemClock, write: (line) => void lines.push(line) }),
  ];
  const server = await startHttpServer({
    host,
    port: 0,
    limits: { bodyBytes: () => bodyBytes ?? 50_000_000, headerBytes: 32 * 1024 },
    newRequestId: createRequestId,
    onBug: report,
    observers,
    upgrades: createWebSockets({
      routes: surface.sockets,
      formatError: formatOpenAiError,
      clock,
      onBug: report,
      ...(serving.socketLimits !== undefined && { limits: serving.socketLimits }),
    }),
    ...createRouter([surface], report),
  });
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await server.close();
    await sessions.close();
    if (serving.store === undefined) await store.close();
  };
  const close = async (): Promise<void> => {
    await stop();
    if (reports.length > 0) throw new AggregateError(reports, "The server has bugs");
  };
  onTestFinished(async () => {
    await stop();
    expect(problems).toEqual([]);
  });
  return {
    baseUrl: `${server.url}/v1`,
    apiKey: keys?.[0]?.key ?? "any key will do here",
    model: agents[0]?.spec.name ?? "",
    sessions,
    lines,
    ends,
    reports,
    close,
    stop,
  };
}
