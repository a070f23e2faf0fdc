import { once } from "node:events";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { createAccess } from "../../src/http/access/access.ts";
import { formatOpenAiError } from "../../src/http/routing/openai-errors.ts";
import type { OpenSocket, SocketLimits } from "../../src/http/sockets/open-socket.ts";
import {
  createWebSockets,
  type SocketHandler,
  type WebSocketOptions,
} from "../../src/http/sockets/web-sockets.ts";
import { createFakeClock, advanceUntil, type FakeClock } from "../support/fake-clock.ts";
import { plain, served, type Served } from "./test-server.ts";
import { waitUntil, withDeadline } from "../support/with-deadline.ts";

const KEY = "sk-a-key-for-tests-only";
const open: Served[] = [];
const clients: WebSocket[] = [];
let clock: FakeClock;
const sockets = { open: 0 };

afterEach(async () => {
  for (const client of clients.splice(0)) client.terminate();
  for (const server of open.splice(0)) await advanceUntil(clock, server.close());
});

interface StartedServer extends Served {
  client(path?: string, headers?: { readonly [name: string]: string }): WebSocket;
}

async function started(
  handler: SocketHandler,
  limits: SocketLimits = {},
  more: Partial<WebSocketOptions> = {},
): Promise<StartedServer> {
  clock = createFakeClock();
  sockets.open = 0;
  const bugs: unknown[] = [];
  const access = createAccess({ host: "127.0.0.1", keys: [{ name: "app", key: KEY }] });
  const upgrades = createWebSockets({
    routes: ["/v1/responses", "/responses"].map((path) => ({
      path,
      isUrgent: (text: string) => text.startsWith("urgent"),
      async accept(head) {
        access.authenticate(head);
        return handler;
      },
    })),
    formatError: formatOpenAiError,
    clock,
    limits,
    observers: [{ onEnd: () => {}, onOpenChange: (_, change) => void (sockets.open += change) }],
    onBug: (error) => bugs.push(error),
    ...more,
  });
  const routes = [
    {
      method: "POST" as const,
      path: "/v1/responses",
      handle: async ({ body }: { body: Uint8Array }) => plain(`got ${String(body)}`),
    },
  ];
  const server = await served(routes, { upgrades, clock });
  open.push(server);
  return {
    ...server,
    bugs,
    client(path = "/v1/responses", headers = { authorization: `Bearer ${KEY}` }) {
      const client = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers });
      clients.push(client);
      return client;
    },
  };
}

const echo: SocketHandler = async ({ messages, send }) => {
  for await (const text of messages) await send(text);
};

/** A handler which reads nothing. */
const idle: SocketHandler = async ({ disconnectSignal }) => {
  await once(disconnectSignal, "abort");
};

async function closing(client: WebSocket): Promise<[number, string]> {
  const [code, reason] = await once(client, "close");
  return [code, String(reason)];
}

/** Opens a WebSocket by hand, to send frames which no client library sends. */
async function rawSocket(server: Served): Promise<Socket> {
  const socket = await server.raw(
    `GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n\r\n`,
  );
  const [head] = await once(socket, "data");
  expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
  return socket;
}

/** A masked frame below 64 kB. */
function frame(opcode: number, payload: Uint8Array, isFinal = true): Buffer {
  const mask = Buffer.from([1, 2, 3, 4]);
  const length =
    payload.length < 126
      ? [0x80 | payload.length]
      : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
  const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, ...length]), mask, masked]);
}

/** The code in the close frame at the end of the server's output. */
async function closeCode(socket: Socket): Promise<number> {
  let receivedBytes = Buffer.alloc(0);
  while (!receivedBytes.includes(0x88))
    receivedBytes = Buffer.concat([receivedBytes, (await once(socket, "data"))[0]]);
  return receivedBytes.readUInt16BE(receivedBytes.indexOf(0x88) + 2);
}

describe("WebSockets", () => {
  it.each(["/v1/responses", "/responses?a=b"])(
    "Messages are sent in both directions and in order at %s [OR-76]",
    async (path) => {
      const server = await started(echo);
      const client = server.client(path);
      const [[upgrade]] = await Promise.all([once(client, "upgrade"), once(client, "open")]);
      expect(upgrade.headers["x-request-id"]).toBe("req_1");
      const receivedTexts: string[] = [];
      client.on("message", (data: Buffer) => receivedTexts.push(data.toString()));
      for (const text of ["one", "zwei é 🙂", ""]) client.send(text);
      while (receivedTexts.length < 3) await once(client, "message");
      expect(receivedTexts).toEqual(["one", "zwei é 🙂", ""]);
      client.close();
      expect(await closing(client)).toEqual([1005, ""]);
    },
  );

  it("An upgrade is refused in the same cases and form as a request", async () => {
    const server = await started(echo);
    const refusal = async (path: string, headers: { readonly [name: string]: string }) => {
      const client = server.client(path, headers);
      client.on("error", () => {});
      const [, response] = await once(client, "unexpected-response");
      const chunks = await response.toArray();
      return [response.statusCode, JSON.parse(Buffer.concat(chunks).toString()).error.code];
    };
    const authorization = `Bearer ${KEY}`;
    const refusals = [
      await refusal("/v1/responses", {}),
      await refusal("/v1/responses", { authorization: "Bearer another-key-of-nobody" }),
      await refusal("/v1/responses", { authorization, origin: "http://evil.example" }),
      await refusal("/v1/responses", { authorization, host: "evil.example" }),
      await refusal("/v1/none", { authorization }),
    ];
    expect(refusals).toEqual([
      [401, "invalid_api_key"],
      [401, "invalid_api_key"],
      [403, "access_denied"],
      [403, "access_denied"],
      [404, "unknown_url"],
    ]);
    const bad = await server.raw(
      `GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
    const output = Buffer.concat(await bad.toArray()).toString();
    expect(output).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"validation_failed"/);
    expect([sockets.open, server.bugs]).toEqual([0, []]);
  });

  it("An upgrade over the limit is refused", async () => {
    const server = await started(echo, {}, { sockets: 1 });
    await once(server.client(), "open");
    const second = server.client();
    second.on("error", () => {});
    const [, response] = await once(second, "unexpected-response");
    expect(response.statusCode).toBe(503);
  });

  it("A WebSocket closes when its handler returns", async () => {
    const server = await started(async ({ send }) => send("bye"));
    const client = server.client();
    const [output] = await once(client, "message");
    expect([String(output), await closing(client)]).toEqual(["bye", [1000, ""]]);
  });

  it("A WebSocket closes if its handler throws, without details for the client", async () => {
    const server = await started(async () => {
      throw new Error("a bug");
    });
    const [code, reason] = await closing(server.client());
    expect([code, reason]).toEqual([1011, "The bridge failed; its log says why"]);
    expect(server.bugs).toEqual([new Error("a bug")]);
  });

  it("A handler is notified when the client disconnects", async () => {
    let isGone: (by: boolean) => void = () => {};
    const gone = new Promise<boolean>((resolve) => (isGone = resolve));
    const server = await started(async ({ messages: texts, send, disconnectSignal: signal }) => {
      for await (const _ of texts);
      await send("to nobody");
      isGone(signal.aborted);
    });
    const client = server.client();
    await once(client, "open");
    client.terminate();
    expect(await gone).toBe(true);
    expect([sockets.open, server.bugs]).toEqual([0, []]);
  });
});

describe("Invalid WebSocket messages", () => {
  it.each([
    ["a message over the limit", [frame(1, Buffer.alloc(1001, "x"))], 1009],
    [
      "fragments that exceed the limit together",
      [frame(1, Buffer.alloc(600, "x"), false), frame(0, Buffer.alloc(600, "x"))],
      1009,
    ],
    ["text that is not UTF-8", [frame(1, Buffer.from([0xc3, 0x28]))], 1007],
    ["bytes", [frame(2, Buffer.from("x"))], 1003],
    ["a frame that is not masked", [Buffer.from([0x81, 1, 0x78])], 1002],
    ["a frame with a reserved bit", [Buffer.from([0xf1, 0x80, 1, 2, 3, 4])], 1002],
    ["a continuation frame without a start", [frame(0, Buffer.from("x"))], 1002],
  ])("A client is disconnected for %s [OR-76]", async (_, frames, code) => {
    const server = await started(echo, { messageBytes: 1000 });
    const socket = await rawSocket(server);
    socket.write(Buffer.concat(frames));
    expect(await closeCode(socket)).toBe(code);
    expect(server.bugs).toEqual([]);
  });

  it("An urgent message does not wait for the messages before it [OR-76]", async () => {
    const server = await started(async (socket) => {
      for await (const text of socket.urgentMessages) await socket.send(text);
    });
    const client = server.client();
    await once(client, "open");
    for (const text of ["x", "urgent 1", "y", "urgent 2"]) client.send(text);
    const seen: string[] = [];
    const both = new Promise<void>((resolve) => {
      client.on("message", (data: Buffer) => {
        if (seen.push(data.toString()) === 2) resolve();
      });
    });
    await withDeadline(both, () => `received: ${seen.join(", ")}`);
    expect(seen).toEqual(["urgent 1", "urgent 2"]);
  });

  it("A client is disconnected for more urgent messages than the limit [OR-76]", async () => {
    const server = await started(idle, { waitingTexts: 3 });
    const client = server.client();
    await once(client, "open");
    for (let at = 0; at < 4; at++) client.send("urgent");
    expect(await closing(client)).toEqual([1008, "Too many messages wait"]);
  });

  it("A client is disconnected for more waiting messages than the limit", async () => {
    const server = await started(idle, {
      waitingTexts: 3,
    });
    const client = server.client();
    await once(client, "open");
    for (let at = 0; at < 4; at++) client.send("x");
    expect(await closing(client)).toEqual([1008, "Too many messages wait"]);
  });

  it("A fragmented message is received as one message", async () => {
    const server = await started(echo);
    const socket = await rawSocket(server);
    const bytes = Buffer.from("é🙂");
    // The fragments are cut inside characters.
    socket.write(frame(1, bytes.subarray(0, 1), false));
    socket.write(frame(0, bytes.subarray(1, 4), false));
    socket.write(frame(0, bytes.subarray(4)));
    const [output] = await once(socket, "data");
    expect(output.subarray(2)).toEqual(bytes);
    socket.destroy();
  });

  it("A request with an upgrade to another protocol is answered normally", async () => {
    const server = await started(echo);
    // The request as Java's client sends it.
    const socket = await server.raw(
      "POST /v1/responses HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nContent-Length: 4\r\nHost: localhost\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nUpgrade: h2c\r\n\r\nab",
    );
    socket.write("cd");
    const [output] = await once(socket, "data");
    expect(String(output)).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\ngot abcd$/);
    // The connection stays usable.
    socket.write("POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    const [next] = await once(socket, "data");
    expect(String(next)).toMatch(/\r\n\r\ngot $/);
    socket.destroy();
    expect(server.bugs).toEqual([]);
  });
});

describe("Clients that stop reading a WebSocket", () => {
  it("A sender waits for a client that stops reading, which is disconnected at last [OR-23]", async () => {
    let sent = 0;
    let over: () => void = () => {};
    const isOver = new Promise<void>((resolve) => (over = resolve));
    const server = await started(
      async ({ send, disconnectSignal: gone }) => {
        for (; !gone.aborted; sent++) await send("x".repeat(100_000));
        over();
      },
      { unsentBytes: 300_000 },
    );
    const socket = await rawSocket(server);
    socket.pause();
    await advanceUntil(clock, isOver);
    // Only the messages in system buffers, 100 kB each.
    expect(sent).toBeLessThan(500);
    socket.destroy();
  });

  it("A client that stops reading is disconnected at once if the sender does not wait", async () => {
    let opened: OpenSocket | undefined;
    const server = await started(
      async (socket) => {
        opened = socket;
        for (let at = 0; at < 200; at++) void socket.send("x".repeat(100_000));
        await once(socket.disconnectSignal, "abort");
      },
      { unsentBytes: 100_000 },
    );
    const socket = await rawSocket(server);
    socket.pause();
    await waitUntil(() => opened?.disconnectSignal.aborted === true);
    expect(clock.now()).toBe(createFakeClock().now());
    socket.destroy();
  });

  it("Pong replies to a client that stops reading are limited", async () => {
    const server = await started(idle, {
      unsentBytes: 10_000,
    });
    const socket = await rawSocket(server);
    socket.pause();
    const pings = Buffer.concat(Array.from({ length: 1000 }, () => frame(9, Buffer.alloc(125))));
    const closed = new Promise((resolve) => socket.on("close", resolve));
    const flood = (): void => {
      if (!socket.destroyed) socket.write(pings, () => setImmediate(flood));
    };
    flood();
    await closed;
    await waitUntil(() => sockets.open === 0);
    expect(server.bugs).toEqual([]);
  });
});

describe("Lifetime of a WebSocket", () => {
  it("A silent peer is disconnected after two unanswered pings [OR-76]", async () => {
    const server = await started(echo, { pingMs: 1000 });
    const silent = await rawSocket(server);
    const lively = server.client();
    await once(lively, "open");
    const closed = once(silent, "close");
    clock.advance(1000);
    await once(lively, "ping");
    const [output] = await once(silent, "data");
    expect(output).toEqual(Buffer.from([0x89, 0]));
    lively.send("still here");
    await once(lively, "message");
    clock.advance(1000);
    await closed;
    expect(lively.readyState).toBe(WebSocket.OPEN);
  });

  it("A WebSocket that is an hour old is closed after it could say so [OR-76]", async () => {
    const server = await started(
      async ({ expirySignal, send, disconnectSignal: gone }) => {
        await once(expirySignal, "abort");
        await send("too old");
        await once(gone, "abort");
      },
      { pingMs: 10_000_000 },
    );
    const client = server.client();
    await once(client, "open");
    const message = once(client, "message");
    const closed = closing(client);
    clock.advance(3_599_999);
    expect(client.readyState).toBe(WebSocket.OPEN);
    await advanceUntil(clock, message);
    expect(String((await message)[0])).toBe("too old");
    await advanceUntil(clock, closed);
    expect(await closed).toEqual([1001, "Too old"]);
  });

  it("WebSockets are closed properly when the server stops", async () => {
    const server = await started(echo);
    const client = server.client();
    await once(client, "open");
    const closed = closing(client);
    await server.close();
    expect(await closed).toEqual([1001, "The server ends"]);
  });

  it("A silent peer does not delay the stop of the server", async () => {
    const server = await started(echo);
    const silent = await rawSocket(server);
    silent.pause();
    await advanceUntil(clock, server.close());
    expect(sockets.open).toBe(0);
    silent.destroy();
  });
});
