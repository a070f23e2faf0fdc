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

it("closes a connection that nobody needs, before a server that keeps it for a while does", async () => {
  const server = createServer((_, outgoing) => outgoing.end("ok"));
  server.keepAliveTimeout = 0;
  const connected = once(server, "connection");
  const one = client();
  await post(one, await listening(server));
  const [socket]: Socket[] = await connected;
  // Only the client ends it here.
  if (socket !== undefined) await once(socket, "end");
  expect(socket?.readableEnded).toBe(true);
});

it("uses a connection again for the next step of a turn", async () => {
  const server = createServer((_, outgoing) => outgoing.end("ok"));
  let connections = 0;
  server.on("connection", () => (connections += 1));
  const url = await listening(server);
  const one = client();
  await post(one, url);
  await post(one, url);
  expect(connections).toBe(1);
});

it("sends nothing into a connection whose server said that it is about to close it", async () => {
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

it("A body in parts arrives as one, with the length of all parts", async () => {
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
