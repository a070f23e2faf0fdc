import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import type { Route } from "../../src/http/routing/router.ts";
import type { ServedRequest } from "../../src/http/server/http-types.ts";
import { createWebSockets } from "../../src/http/sockets/web-sockets.ts";
import { formatOpenAiError } from "../../src/http/routing/openai-errors.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { plain, served, type Served } from "./test-server.ts";
import { waitUntil } from "../support/with-deadline.ts";

/** A request which may be sent before the response to the previous request. */
const get = (path: string, headers = "") =>
  `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;

interface World {
  readonly server: Served;
  readonly begun: ServedRequest[];
  /** Releases the first waiting request. */
  readonly release: () => void;
}

async function worldOf(options: Parameters<typeof served>[1] = {}): Promise<World> {
  const begun: ServedRequest[] = [];
  const waiting: (() => void)[] = [];
  const route: Route = {
    method: "GET",
    path: "/:name",
    async handle(request) {
      begun.push(request);
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        request.disconnectSignal.addEventListener("abort", () => resolve());
      });
      return plain(request.path);
    },
  };
  const server = await served([route], options);
  onTestFinished(() => server.close());
  return { server, begun, release: () => waiting.shift()?.() };
}

it("A pipelined request starts after the response to the previous one", async () => {
  const { server, begun, release } = await worldOf();
  const socket = await server.raw(get("/1") + get("/2") + get("/3", "connection: close\r\n"));
  for (const path of ["/1", "/2", "/3"]) {
    await waitUntil(() => begun.length > 0 && begun.at(-1)?.path === path);
    release();
  }
  const answers = (await text(socket)).split("HTTP/1.1 200 OK").slice(1);
  expect(answers.map((answer) => answer.slice(-2))).toEqual(["/1", "/2", "/3"]);
  expect(begun).toHaveLength(3);
});

it("Waiting pipelined requests do not start after their client disconnects, and the running one is aborted", async () => {
  const { server, begun } = await worldOf();
  const socket = await server.raw(get("/1") + get("/2"));
  await waitUntil(() => begun.length > 0);
  socket.destroy();
  const [first] = begun;
  if (first !== undefined && !first.disconnectSignal.aborted)
    await once(first.disconnectSignal, "abort");
  expect((await server.call("GET", "/none/at/all")).status).toBe(404);
  expect(begun.map(({ path }) => path)).toEqual(["/1"]);
});

it("The number of waiting pipelined requests is limited", async () => {
  const { server, begun } = await worldOf();
  const socket = await server.raw(Array.from({ length: 200 }, (_, at) => get(`/${at}`)).join(""));
  await once(socket, "close");
  expect(begun.length).toBeLessThan(2);
});

it("A request without its body is not answered inside the response to the previous one", async () => {
  const { server, begun, release } = await worldOf({
    limits: { bodyBytes: () => 1000, headerBytes: 1000, headerMs: 100, requestMs: 100 },
  });
  const socket = await server.raw(get("/1") + get("/2", "content-length: 9\r\n"));
  const answer = text(socket).catch(() => "");
  await waitUntil(() => begun.length > 0);
  await once(socket, "close");
  release();
  expect(await answer).toBe("");
});

it("A WebSocket upgrade does not start before the response to the previous request", async () => {
  const upgrades = createWebSockets({
    routes: [{ path: "/socket", accept: async () => async () => {} }],
    formatError: formatOpenAiError,
    clock: systemClock,
    onBug: () => {},
  });
  const { server, begun } = await worldOf({ upgrades });
  const wish =
    "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  const socket = await server.raw(get("/1") + get("/socket", wish));
  const answer = text(socket).catch(() => "");
  await waitUntil(() => begun.length > 0);
  expect(await answer).toBe("");
});
