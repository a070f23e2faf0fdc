import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createHttpClient, type HttpClient } from "./http-client.ts";

const NEVER = new AbortController().signal;

async function listening(server: Server): Promise<URL> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

function client(): HttpClient {
  const made = createHttpClient();
  onTestFinished(() => made.close());
  return made;
}

async function post({ send }: HttpClient, url: URL): Promise<void> {
  const { body } = await send({ method: "POST", url, headers: {}, body: Buffer.from("x") }, NEVER);
  for await (const _ of body);
}

it("The client closes an idle connection before a server with a short keep-alive does", async () => {
  const server = createServer((_, outgoing) => outgoing.end("ok"));
  server.keepAliveTimeout = 0;
  const connected = once(server, "connection");
  const one = client();
  await post(one, await listening(server));
  const [socket]: Socket[] = await connected;
  // Only the client closes the connection: the server has no keep-alive timeout.
  if (socket !== undefined) await once(socket, "end");
  expect(socket?.readableEnded).toBe(true);
});

it("A connection is reused for the next request of a turn", async () => {
  const server = createServer((_, outgoing) => outgoing.end("ok"));
  let connections = 0;
  server.on("connection", () => (connections += 1));
  const url = await listening(server);
  const one = client();
  await post(one, url);
  await post(one, url);
  expect(connections).toBe(1);
});

it("A connection announced to be closed by the server is not reused", async () => {
  const server = createServer((_, outgoing) => outgoing.end("ok"));
  server.keepAliveTimeout = 1000;
  let connections = 0;
  server.on("connection", () => (connections += 1));
  const url = await listening(server);
  const one = client();
  await post(one, url);
  await post(one, url);
  expect(connections).toBe(2);
});

it("A body in parts is sent as a single body with the total length", async () => {
  const received: { length: string | undefined; text: string }[] = [];
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const length = incoming.headers["content-length"];
      received.push({ length, text: Buffer.concat(chunks).toString() });
      outgoing.end("ok");
    });
  });
  const url = await listening(server);
  const parts = ["one,", "two,", "x".repeat(200_000)].map((text) => Buffer.from(text));
  const { send } = client();
  const { status } = await send({ method: "POST", url, headers: {}, body: parts }, NEVER);
  expect(status).toBe(200);
  expect(received).toEqual([{ length: "200008", text: `one,two,${"x".repeat(200_000)}` }]);
});
