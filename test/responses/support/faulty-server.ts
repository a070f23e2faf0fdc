import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { isObject } from "../../../src/data/json.ts";
import type { AgentScript } from "./agent-script.ts";
import { user } from "./compliance-test.ts";
import { framedEvents, type Fields } from "./recorded-stream.ts";
import { startServed } from "./start-server.ts";
import type { Target } from "./target.ts";

/** Faults which the server can have, usually one at a time. */
export interface Faults {
  response?(response: Fields): Fields;
  /** Changes the events of a stream. On a WebSocket it is called once per event. */
  events?(events: readonly Fields[]): readonly Fields[];
  /** Changes the bytes of a stream. */
  framing?(text: string): string;
  compaction?(compacted: Fields): Fields;
  headers?: { readonly [name: string]: string };
  /** Returns true for valid requests which are to be refused. */
  refuses?(request: Fields): boolean;
  /** Accepts a request which must be refused, or loses state which must be kept. */
  allows?: keyof typeof LENIENT;
}

/** The request as rewritten by the lenient server. */
const LENIENT = {
  "unknown-previous": (request: Fields) => without(request, "previous_response_id"),
  unstored: (request: Fields) => without(request, "store"),
  evicted: (request: Fields) => request,
  forbidden: (request: Fields) => without(request, "stream", "stream_options", "background"),
  "no-model": (request: Fields) => ({ model: "scripted", ...request }),
  "lost-compaction": (request: Fields) =>
    "prompt_cache_key" in request ? { ...request, input: [user("Hello.")] } : request,
} as const;

const PLANTED = { type: "invalid_request_error", code: "planted", message: "No", param: null };

/** Starts the real server behind a proxy which corrupts its responses. */
export async function startFaulty(script: AgentScript, faults: Faults): Promise<Target> {
  const target = await startServed(script);
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  const meant = (request: Fields): Fields =>
    faults.allows === undefined ? request : LENIENT[faults.allows](request);
  const isRefused = (request: Fields): boolean => faults.refuses?.(request) === true;

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request: Fields = JSON.parse(await text(incoming));
    if (isRefused(request)) return send(outgoing, 400, {}, JSON.stringify({ error: PLANTED }));
    const real = await fetch(`${target.baseUrl}${(incoming.url ?? "").replace("/v1", "")}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(meant(request)),
    });
    const headers = { ...Object.fromEntries(real.headers), ...faults.headers };
    const responseText = await real.text();
    const isStream = real.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const spoilt = isStream
      ? framed(spoiltEvents(framedEvents(responseText)))
      : spoiltBody(responseText);
    send(outgoing, real.status, headers, faults.framing?.(spoilt) ?? spoilt);
  }

  const spoiltEvents = (events: readonly Fields[]): readonly Fields[] => {
    const changed = events.map((event) => {
      const { response } = event;
      if (!isObject(response) || faults.response === undefined) return event;
      return { ...event, response: faults.response(response) };
    });
    return faults.events?.(changed) ?? changed;
  };
  const spoiltBody = (content: string): string => {
    const body: Fields = JSON.parse(content);
    if (!("object" in body)) return content;
    const isResponse = body["object"] === "response";
    const spoilt = isResponse ? faults.response?.(body) : faults.compaction?.(body);
    return JSON.stringify(spoilt ?? body);
  };

  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (client) => {
    const real = new WebSocket(`${target.baseUrl.replace(/^http/, "ws")}/responses`);
    const isOpen = once(real, "open");
    client.on("close", () => real.terminate());
    client.on("message", (data: Buffer) => void pass(JSON.parse(data.toString())));
    real.on("message", (data: Buffer) => {
      for (const event of spoiltEvents([JSON.parse(data.toString())])) say(event);
    });
    const say = (event: Fields): void => client.send(JSON.stringify(event));
    const pass = async (request: Fields): Promise<void> => {
      await isOpen;
      // The proxy answers this request itself, so the real server does not evict the chain for the failure.
      const isForgiven = faults.allows === "evicted" && mentions(request, "call_nowhere");
      if (isForgiven || isRefused(request)) say({ type: "error", status: 400, error: PLANTED });
      else real.send(JSON.stringify(meant(request)));
    };
  });

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { ...target, baseUrl: `http://127.0.0.1:${port}/v1` };
}

function without(request: Fields, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name)));
}

export function mentions(request: Fields, word: string): boolean {
  return JSON.stringify(request).includes(word);
}

function framed(events: readonly Fields[]): string {
  const frames = events.map(
    (one) => `event: ${String(one["type"])}\ndata: ${JSON.stringify(one)}\n\n`,
  );
  return `${frames.join("")}data: [DONE]\n\n`;
}

function send(to: ServerResponse, status: number, headers: object, body: string): void {
  const type = { "content-type": "application/json" };
  const {
    "content-length": _,
    "transfer-encoding": __,
    ...rest
  } = { ...type, ...headers } as {
    [name: string]: string;
  };
  to.writeHead(status, rest);
  to.end(body);
}
