import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { createAccess } from "../../src/http/access/access.ts";
import { createAccessLog } from "../../src/http/operations/access-log.ts";
import { createEventStream } from "../../src/http/routing/event-stream.ts";
import { createGuardedRoutes } from "../../src/http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../src/http/routing/json-response.ts";
import { createMetrics, type Metrics } from "../../src/http/operations/metrics.ts";
import {
  createOperationRoutes,
  type OperationOptions,
} from "../../src/http/operations/operation-routes.ts";
import { createRateLimits } from "../../src/http/access/rate-limits.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { served, type Served } from "./test-server.ts";
import { waitUntil } from "../support/with-deadline.ts";

const KEY = "sk-a-key-for-tests-only";
const auth = { authorization: `Bearer ${KEY}` };

interface World extends Served {
  readonly metrics: Metrics;
  readonly clock: FakeClock;
  readonly lines: string[];
  /** Lines of a single metric. */
  readonly samples: (name: string) => Promise<string[]>;
}

const open: World[] = [];

afterEach(async () => {
  for (const { metrics, ...server } of open.splice(0)) {
    metrics.close();
    await server.close();
  }
});

async function started(options: Partial<OperationOptions> = {}): Promise<World> {
  const clock = createFakeClock();
  const lines: string[] = [];
  const metrics = createMetrics();
  const access = createAccess({ host: "127.0.0.1", keys: [{ name: "ada", key: KEY }] });
  const rates = createRateLimits({ requestsPerMinute: 60, burst: 3 }, clock);
  const guarded = createGuardedRoutes(
    [
      {
        method: "GET",
        path: "/v1/responses/:id",
        async handle(_, __, caller) {
          clock.advance(250);
          return createJsonResponse(200, { caller: caller.id });
        },
      },
      {
        method: "GET",
        path: "/v1/stream",
        handle: async ({ disconnectSignal }) =>
          createEventStream(
            (async function* () {
              yield "data: 1\n\n";
              await once(disconnectSignal, "abort");
            })(),
            { clock },
          ),
      },
    ],
    { access, rates },
  );
  const operations = createOperationRoutes({ clock, checks: {}, metrics, access, ...options });
  const server = await served([...guarded, ...operations], {
    clock,
    observers: [metrics, createAccessLog({ clock, write: (line) => lines.push(line) })],
  });
  const world: World = {
    ...server,
    metrics,
    clock,
    lines,
    async samples(name) {
      const { text } = await server.call("GET", "/metrics", { headers: auth });
      return text.split("\n").filter((line) => line.startsWith(name));
    },
  };
  open.push(world);
  return world;
}

describe("Guarded routes", () => {
  it("A guarded route has its caller and returns the remaining requests", async () => {
    const { call } = await started();
    const answer = await call("GET", "/v1/responses/resp_1", { headers: auth });
    expect([answer.status, answer.json, answer.headers["x-ratelimit-remaining-requests"]]).toEqual([
      200,
      { caller: "ada" },
      "2",
    ]);
  });

  it("An unknown caller is refused in OpenAI's form [OR-70]", async () => {
    const { call } = await started();
    const { status, json, headers } = await call("GET", "/v1/responses/resp_1");
    expect([status, headers["www-authenticate"]]).toEqual([401, 'Bearer realm="spanline"']);
    expect(json).toEqual({
      error: {
        message: expect.stringContaining("no key"),
        type: "invalid_request_error",
        param: null,
        code: "invalid_api_key",
      },
    });
  });

  it.each([
    ["without a key", "GET /v1/responses/resp_1", 401],
    ["for an unknown path", "POST /nowhere", 404],
    ["by a method that is not allowed", "PUT /v1/stream", 405],
  ])("A body is not read %s, so it cannot fill the memory [OR-71]", async (_, line, status) => {
    const server = await started();
    const head = "host: localhost\r\ncontent-type: application/json\r\ncontent-length: 900\r\n";
    const socket = await server.raw(`${line} HTTP/1.1\r\n${head}\r\n`);
    const [output] = await once(socket, "data");
    expect(String(output)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    socket.destroy();
  });

  it("A request over the rate limit is refused with retry-after [OR-46]", async () => {
    const { call, clock } = await started();
    const statuses: unknown[] = [];
    for (let at = 0; at < 5; at++) {
      const { status, headers } = await call("GET", "/v1/responses/x", { headers: auth });
      statuses.push([status, headers["retry-after"], headers["x-should-retry"]]);
    }
    const fine = [200, undefined, undefined];
    expect(statuses).toEqual([fine, fine, fine, [429, "1", "true"], [429, "1", "true"]]);
    clock.advance(1000);
    expect((await call("GET", "/v1/responses/x", { headers: auth })).status).toBe(200);
  });
});

describe("Metrics", () => {
  it("Requests and their durations are counted by route", async () => {
    const { call, samples } = await started();
    await call("GET", "/v1/responses/resp_1", { headers: auth });
    await call("GET", "/v1/responses/resp_2", { headers: auth });
    await call("GET", "/v1/responses/resp_3");
    await call("GET", "/somewhere/else");
    expect(await samples("spanline_http_requests_total")).toEqual([
      'spanline_http_requests_total{route="/v1/responses/:id",method="GET",status="200"} 2',
      'spanline_http_requests_total{route="/v1/responses/:id",method="GET",status="401"} 1',
      'spanline_http_requests_total{route="none",method="GET",status="404"} 1',
    ]);
    const sum =
      'spanline_http_request_duration_seconds_sum{route="/v1/responses/:id",method="GET"}';
    expect(await samples(sum)).toEqual([`${sum} 0.5`]);
  });

  it("Open streams are counted", async () => {
    const { begin, samples } = await started();
    const response = await begin("GET", "/v1/stream", { headers: auth });
    await once(response, "data");
    expect(await samples("spanline_http_open_streams")).toEqual(["spanline_http_open_streams 1"]);
    response.destroy();
    while ((await samples("spanline_http_open_streams"))[0] !== "spanline_http_open_streams 0");
  });

  it("Turns, tokens and process metrics are reported", async () => {
    const { metrics, samples } = await started();
    metrics.countTurn("completed");
    metrics.countTurn("failed");
    metrics.countTokens({ input: 10, output: 5, cached: 4 });
    metrics.countTokens({ output: 5 });
    expect(await samples("spanline_turns_total")).toEqual([
      'spanline_turns_total{outcome="completed"} 1',
      'spanline_turns_total{outcome="failed"} 1',
    ]);
    expect(await samples("spanline_tokens_total")).toEqual([
      'spanline_tokens_total{kind="input"} 10',
      'spanline_tokens_total{kind="output"} 10',
      'spanline_tokens_total{kind="cached"} 4',
    ]);
    expect(await samples("nodejs_eventloop_delay_seconds")).toHaveLength(3);
    expect(await samples("process_")).toHaveLength(3);
  });

  it("Metrics require a key", async () => {
    const { call } = await started();
    expect((await call("GET", "/metrics")).status).toBe(401);
  });

  it("Each server has its own metrics", async () => {
    const [one, other] = [await started(), await started()];
    one.metrics.countTurn("completed");
    expect(await other.samples("spanline_turns_total{")).toEqual([]);
  });
});

describe("Health", () => {
  it("/healthz succeeds while the process lives, even if a check fails", async () => {
    const { call } = await started({ checks: { sessions: () => Promise.reject(new Error("x")) } });
    expect((await call("GET", "/healthz")).status).toBe(200);
  });

  it("/readyz succeeds if all checks succeed", async () => {
    const { call } = await started({ checks: { sessions: async () => {} } });
    const { status, json } = await call("GET", "/readyz");
    expect([status, json]).toEqual([200, { status: "ready" }]);
  });

  it("/readyz names a failed check and logs the reason", async () => {
    const reasons: string[] = [];
    const { call } = await started({
      checks: {
        good: async () => {},
        sessions: async () => {
          throw new Error("the disk /secret is full");
        },
      },
      onFailedCheck: (name, message) => reasons.push(`${name}: ${message}`),
    });
    const { status, json } = await call("GET", "/readyz");
    expect([status, json]).toEqual([503, { status: "not ready", failed: ["sessions"] }]);
    expect(reasons).toEqual(["sessions: the disk /secret is full"]);
  });

  it("/readyz does not wait for a check that never answers", async () => {
    const clock = createFakeClock();
    const { call } = await started({ clock, checks: { sessions: () => new Promise(() => {}) } });
    const pendingResponse = call("GET", "/readyz");
    await waitUntil(() => clock.pending > 0);
    clock.advance(2000);
    expect((await pendingResponse).status).toBe(503);
  });
});

describe("Access log", () => {
  it("Each request has one line without message text, keys or session ids [OR-72]", async () => {
    const { call, lines } = await started();
    const headers = { ...auth, cookie: "a=cookie-secret", "x-request-id": "mine" };
    const path = "/v1/responses/resp_ses_secret_1?key=query-secret";
    await call("GET", path, {
      headers: { ...headers, "content-length": "11" },
      body: "body-secret",
    });
    await call("GET", "/v1/responses/ses_secret");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: "2026-11-16T00:00:00.250Z",
        requestId: "mine",
        method: "GET",
        route: "/v1/responses/:id",
        principal: "ada",
        bytesIn: expect.any(Number),
        bytesOut: expect.any(Number),
        end: "sent",
        status: 200,
        milliseconds: 250,
      },
      expect.objectContaining({ route: "/v1/responses/:id", status: 401, end: "sent" }),
    ]);
    expect(lines.join("")).not.toMatch(/secret|sk-/);
    expect(lines.every((line) => line.endsWith("}\n"))).toBe(true);
  });

  it("A client that disconnects is logged as gone", async () => {
    const { begin, lines } = await started();
    const response = await begin("GET", "/v1/stream", { headers: auth });
    await once(response, "data");
    response.destroy();
    await waitUntil(() => lines.length > 0);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ status: 200, end: "gone" });
  });
});
