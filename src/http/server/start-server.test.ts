import { eventually } from "../../../test/support/eventually.ts";
import { createFakeClock, advanceUntil } from "../../../test/support/fake-clock.ts";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { hostname } from "node:os";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { listMachineAddresses } from "../../platform/machine-names.ts";
import { ConnectionReset, type ServedResponse, type ServedRequest } from "./http-types.ts";
import { startHttpServer, type HttpServer } from "./start-server.ts";
import type { ServerOptions } from "./server-options.ts";

const running: HttpServer[] = [];
const bugs: unknown[] = [];

afterEach(async () => {
  bugs.length = 0;
  for (const server of running.splice(0)) await server.close();
});

async function started(
  handle: ServerOptions["handle"],
  options: Partial<ServerOptions> = {},
): Promise<HttpServer> {
  const server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    limits: { bodyBytes: () => 1000, headerBytes: 16 * 1024 },
    handle,
    refuse: ({ status, message }) => ({ status, headers: {}, body: Buffer.from(message) }),
    onBug: (error) => bugs.push(error),
    ...options,
  });
  running.push(server);
  return server;
}

function answer(body: ServedResponse["body"] | string): ServedResponse {
  return {
    status: 200,
    headers: { "content-type": "text/plain" },
    body: typeof body === "string" ? Buffer.from(body) : body,
  };
}

interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | Uint8Array;
}

function call({ port }: HttpServer, options: Call = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method = "POST", path = "/", headers = {} } = options;
    const outgoing = httpRequest({ host: "127.0.0.1", port, method, path, headers }, resolve);
    outgoing.on("error", reject);
    outgoing.end(options.body);
  });
}

async function read(response: IncomingMessage): Promise<[number | undefined, string]> {
  return [response.statusCode, await text(response)];
}

function deferred<Value>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { promise, resolve };
}

/** Waits until a number stays the same for 300 ticks of the event loop. */
async function settled(count: () => number): Promise<void> {
  for (let same = 0, before = -1; same < 300; same++) {
    if (count() !== before) same = 0;
    before = count();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Sends bytes unchanged. */
async function raw({ port }: HttpServer, bytes: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

describe("The HTTP server", () => {
  it("The handler receives method, path, query, headers and body unchanged", async () => {
    let seen: ServedRequest | undefined;
    const server = await started(async (request) => {
      seen = request;
      return answer("fine");
    });
    const path = "/a%2Fb/c?q=%20&r";
    const socket = await raw(
      server,
      `PATCH ${path} HTTP/1.1\r\nHost: localhost:${server.port}\r\nX-Two: a  b\r\nx-two: é\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{}\n`,
    );
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\n/);
    expect(seen).toMatchObject({
      method: "PATCH",
      path: "/a%2Fb/c",
      query: "q=%20&r",
      headers: [
        ["host", `localhost:${server.port}`],
        ["x-two", "a  b"],
        ["x-two", Buffer.from("é").toString("latin1")],
        ["content-length", "3"],
        ["connection", "close"],
      ],
      body: Buffer.from("{}\n"),
    });
  });

  it("The server reports its URL, and starting on a used port fails with EADDRINUSE", async () => {
    const server = await started(async () => answer(""));
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    await expect(started(async () => answer(""), { port: server.port })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });

  it.each([
    ["localhost", 200],
    ["LOCALHOST:80", 200],
    ["127.0.0.1:1", 200],
    ["[::1]:1", 200],
    ["emulator.test:1", 200],
    ["evil.example", 403],
    ["127.0.0.1.evil.example", 403],
    ["localhost@evil.example", 403],
    ["localhost/evil", 403],
  ])("A request for the host %s gets the status %i", async (host, status) => {
    const server = await started(async () => answer(""), { allowedHosts: ["emulator.test"] });
    expect((await call(server, { headers: { host } })).statusCode).toBe(status);
  });

  it("A server bound to all addresses accepts every name of this machine", async () => {
    const server = await started(async () => answer(""), { host: "0.0.0.0" });
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`);
    const addresses = listMachineAddresses().map((one) => (one.includes(":") ? `[${one}]` : one));
    for (const name of ["127.0.0.1", hostname(), ...addresses]) {
      const response = await call(server, { headers: { host: `${name}:80` } });
      expect([name, response.statusCode]).toEqual([name, 200]);
    }
    const foreign = await call(server, { headers: { host: "evil.example" } });
    expect(foreign.statusCode).toBe(403);
  });

  it("A server bound to one address refuses the other names of this machine", async () => {
    const server = await started(async () => answer(""));
    const headers = { host: `${hostname()}.example` };
    expect((await call(server, { headers })).statusCode).toBe(403);
    for (const host of [hostname(), ...listMachineAddresses()].filter(
      (one) => !one.includes(":"),
    )) {
      expect((await call(server, { headers: { host } })).statusCode).toBe(403);
    }
  });

  it("A request without a Host header, or with two, is refused", async () => {
    const server = await started(async () => answer(""));
    for (const hosts of ["", "Host: localhost\r\nHost: evil.example\r\n"]) {
      const socket = await raw(server, `GET / HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 40[03] /);
    }
  });

  it.each([
    ["http://localhost:5", 200],
    ["https://localhost:5", 403],
    ["http://localhost:6", 403],
    ["http://evil.example", 403],
    ["null", 403],
  ])("A request from a page of %s gets the status %i", async (origin, status) => {
    const server = await started(async () => answer(""));
    const headers = { host: "localhost:5", origin };
    expect((await call(server, { headers })).statusCode).toBe(status);
  });

  it("A request target that is not a path is refused", async () => {
    const server = await started(async () => answer(""));
    const response = await call(server, { path: "http://localhost/x" });
    expect(await read(response)).toEqual([400, "The request target is not a path"]);
  });

  it.each([
    ["with its length", { "content-length": "1001" }],
    ["in chunks", { "transfer-encoding": "chunked" }],
  ])(
    "A body over the limit sent %s is refused, and a body at the limit is accepted",
    async (_, headers) => {
      const server = await started(async ({ body }) => answer(String(body.length)), {
        limits: { bodyBytes: (path) => (path === "/large" ? 1001 : 1000), headerBytes: 16 * 1024 },
      });
      const body = "x".repeat(1001);
      expect(await read(await call(server, { headers, body }))).toEqual([
        413,
        "The body has more than 1000 bytes",
      ]);
      expect(await read(await call(server, { path: "/large", headers, body }))).toEqual([
        200,
        "1001",
      ]);
    },
  );

  it("Headers over the size limit are refused with 431", async () => {
    const server = await started(async () => answer(""));
    const headers = { "x-large": "x".repeat(20_000) };
    expect((await call(server, { headers })).statusCode).toBe(431);
  });

  it("The status is sent first, and each chunk is sent when it is produced", async () => {
    const { promise: go, resolve: start } = deferred<void>();
    const { promise: more, resolve: proceed } = deferred<void>();
    const server = await started(async () =>
      answer(
        (async function* () {
          await go;
          yield Buffer.from("one");
          await more;
          yield Buffer.from("two");
        })(),
      ),
    );
    const response = await call(server);
    expect(response.statusCode).toBe(200);
    start();
    expect(String((await once(response, "data"))[0])).toBe("one");
    proceed();
    expect(await text(response)).toBe("two");
  });

  it("A streamed body is produced no faster than the client reads [AC-69]", async () => {
    let made = 0;
    const { promise: left, resolve: leave } = deferred<void>();
    const server = await started(async () =>
      answer(
        (async function* () {
          try {
            for (; made < 2000; made++) yield Buffer.alloc(64 * 1024);
          } finally {
            leave();
          }
        })(),
      ),
    );
    const response = await call(server);
    await once(response, "readable");
    await settled(() => made);
    expect(made).toBeLessThan(1000);
    response.destroy();
    await left;
  });

  it("A client that stops reading a stream has its connection reset", async () => {
    const clock = createFakeClock();
    const { promise: left, resolve: leave } = deferred<boolean>();
    const server = await started(async ({ disconnectSignal }) => ({
      ...answer(
        (async function* () {
          try {
            for (;;) yield Buffer.alloc(64 * 1024);
          } finally {
            leave(disconnectSignal.aborted);
          }
        })(),
      ),
      pace: { clock, stalledMs: 1000 },
    }));
    const response = await call(server);
    await advanceUntil(clock, left);
    expect(await left).toBe(true);
    await expect(text(response)).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(bugs).toEqual([]);
  });

  it("A client that reads none of a complete response has its connection reset [OR-23]", async () => {
    const limits = { bodyBytes: () => 1000, headerBytes: 1000, connections: 1, stalledMs: 100 };
    const server = await started(
      async ({ path }) => answer(path === "/big" ? Buffer.alloc(64 * 1024 * 1024) : "free"),
      { limits },
    );
    const socket = await raw(server, "GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n");
    socket.pause();
    // The server accepts a single connection at a time.
    let next = await call(server);
    while (next.statusCode === 503) {
      next.resume();
      next = await call(server);
    }
    expect(await read(next)).toEqual([200, "free"]);
    socket.destroy();
  });

  it("No timer touches a connection after its response was sent", async () => {
    const clock = createFakeClock();
    const heartbeat = { everyMs: 1000, piece: "quiet" };
    const server = await started(async () => ({
      ...answer(
        (async function* () {
          yield Buffer.from("all");
        })(),
      ),
      pace: { clock, stalledMs: 1000, heartbeat },
    }));
    const request = "GET / HTTP/1.1\r\nHost: localhost\r\n";
    const socket = await raw(server, `${request}\r\n`);
    const chunks: string[] = [];
    socket.on("data", (chunk) => chunks.push(String(chunk)));
    await eventually(() => expect(chunks.join("")).toContain("0\r\n\r\n"));
    clock.advance(1000);
    socket.write(`${request}Connection: close\r\n\r\n`);
    await once(socket, "close");
    expect(chunks.join("").match(/\r\nall\r\n0\r\n\r\n/g)).toHaveLength(2);
  });

  it("A disconnect aborts the request's signal and stops the body", async () => {
    const { promise: gone, resolve: leave } = deferred<string>();
    let finished = false;
    const server = await started(async (request) => {
      request.disconnectSignal.addEventListener("abort", () =>
        leave(String(request.disconnectSignal.reason)),
      );
      return answer(
        (async function* () {
          try {
            yield Buffer.from("one");
            await gone;
            yield Buffer.from("two");
            finished = true;
          } finally {
            leave("left");
          }
        })(),
      );
    });
    const response = await call(server);
    await once(response, "data");
    response.destroy();
    expect(await gone).toBe("Error: The client is gone");
    expect(finished).toBe(false);
    expect(bugs).toEqual([]);
  });

  it("The disconnect signal is not aborted after a complete response", async () => {
    let signal: AbortSignal | undefined;
    const server = await started(async ({ disconnectSignal: gone }) => {
      signal = gone;
      return answer("all");
    });
    const response = await call(server, { headers: { connection: "close" } });
    await text(response);
    await server.close();
    expect(signal?.aborted).toBe(false);
  });

  it("A connection reset during a body is preceded by all bytes written before", async () => {
    const server = await started(async () =>
      answer(
        (async function* () {
          yield Buffer.from("x".repeat(10_000));
          throw new ConnectionReset();
        })(),
      ),
    );
    const response = await call(server);
    let length = 0;
    response.on("data", (chunk: Uint8Array) => (length += chunk.length));
    const [error] = await once(response, "error").catch((thrown: unknown) => [thrown]);
    expect(error).toMatchObject({ code: "ECONNRESET" });
    expect(length).toBe(10_000);
    expect(bugs).toEqual([]);
  });

  it("A handler can reset the connection before any response", async () => {
    const server = await started(async () => {
      throw new ConnectionReset();
    });
    await expect(call(server)).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("A body that throws cuts the connection and reports the error", async () => {
    const bug = new Error("a bug");
    const server = await started(async () =>
      answer(
        (async function* () {
          yield Buffer.from("x");
          throw bug;
        })(),
      ),
    );
    await expect(call(server).then(text)).rejects.toThrow("aborted");
    expect(bugs).toEqual([bug]);
  });

  it("Closing the server ends idle and open connections", async () => {
    const server = await started(async ({ path, disconnectSignal: gone }) =>
      path === "/open"
        ? answer(
            (async function* () {
              yield Buffer.from("x");
              await once(gone, "abort");
            })(),
          )
        : answer("done"),
    );
    const idle = await raw(server, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(idle, "data");
    const open = await call(server, { path: "/open" });
    await once(open, "data");
    const ends = [once(idle, "close"), once(open, "close").catch(() => "cut")];
    open.on("error", () => {});
    await server.close();
    await Promise.all(ends);
    await expect(call(server)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
