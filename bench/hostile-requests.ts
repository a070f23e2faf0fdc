import { request, type ClientRequest } from "node:http";
import { connect } from "node:net";

/** Sends a hostile request and resolves when the connection has closed. Never rejects: refusals are expected. */
export type HostileRequest = (url: URL, at: number) => Promise<void>;

const MEGABYTE = 1_000_000;
/** Bytes. Exceeds the limit of 32 MB for a request to an agent. */
const OVERSIZE = 40 * MEGABYTE;
const filler = Buffer.alloc(MEGABYTE, "x");

/** Small requests, used in turn. */
const SMALL: readonly HostileRequest[] = [
  (url) => post(url, "/v1/responses", '{"model":"bench","input":'),
  (url) => post(url, "/v1/responses", "[".repeat(100_000)),
  (url) => post(url, "/v1/responses", `{"a":${'{"a":'.repeat(20_000)}1${"}".repeat(20_001)}`),
  (url) => post(url, "/v1/responses", JSON.stringify({ model: 5, input: { no: "list" } })),
  (url, at) => post(url, "/v1/responses", JSON.stringify({ model: `agent-${at}`, input: "Hi" })),
  (url, at) => post(url, "/v1/responses", prompt({ previous_response_id: `resp_${at}` })),
  (url, at) => post(url, "/v1/responses", prompt({ conversation: `conv_${at}` })),
  (url, at) => post(url, "/v1/responses", prompt({ [`field_${at}`]: at, __proto__: null })),
  (url, at) => post(url, "/v1/responses", prompt(), { authorization: `Bearer wrong-${at}` }),
  (url, at) => post(url, "/v1/responses", "{}", { "idempotency-key": `key-${at}` }),
  (url) => post(url, "/v1/responses", prompt(), { "content-type": "text/plain" }),
  (url) => post(url, "/v1/responses", prompt(), { origin: "https://evil.example" }),
  (url) => post(url, "/v1/responses", prompt(), { host: "evil.example" }),
  (url) => post(url, "/v1/chat/completions", JSON.stringify({ model: "bench", messages: "Hi" })),
  (url) => post(url, "/v1/inference", JSON.stringify({ input: [[[]]] })),
  (url) => post(url, "/api/sessions", JSON.stringify({ agent: ["bench"] })),
  (url, at) => get(url, `/v1/responses/resp_${at}`),
  (url, at) => get(url, `/v1/conversations/conv_${at}/items`),
  (url, at) => get(url, `/api/sessions/ses_${at}/events?after=${at}`),
  (url, at) => get(url, `/${"x".repeat(at % 2000)}/${at}`),
  (url) => get(url, "/v1/responses", { "x-large": "y".repeat(100_000) }),
  (url) => raw(url, "\u0000\u0001 not HTTP at all\r\n\r\n"),
  (url) => raw(url, "POST /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: -5\r\n\r\n"),
  (url) => raw(url, pipelined(url, 40)),
  (url) => raw(url, upgrade(url)),
  (url) => abortedBody(url),
  (url) => abortedStream(url),
];

/** Requests of several megabytes; every fiftieth request is one of these. */
const LARGE: readonly HostileRequest[] = [
  (url) => post(url, "/v1/responses", Buffer.concat([filler, filler])),
  (url) => post(url, "/v1/responses", `{"input":[${"1,".repeat(MEGABYTE)}1]}`),
  (url) => post(url, "/v1/responses", `{"input":[${"{},".repeat(MEGABYTE)}{}]}`),
  (url) => post(url, "/v1/responses", manyMembers()),
  (url) => post(url, "/v1/responses", prompt({ user: "u".repeat(4 * MEGABYTE) })),
  (url) => post(url, "/api/sessions", Buffer.concat([filler, filler])),
  (url) => oversized(url, { "content-length": OVERSIZE }),
  (url) => oversized(url, { "transfer-encoding": "chunked" }),
];

export function sendHostile(url: URL, at: number): Promise<void> {
  const large = LARGE[(at / 50) % LARGE.length];
  const small = SMALL[at % SMALL.length];
  const send = at % 50 === 0 ? large : small;
  if (send === undefined) throw new Error(`No hostile request has the index ${at}`);
  return send(url, at);
}

function prompt(extra: object = {}): string {
  return JSON.stringify({ model: "bench", input: "Hi", ...extra });
}

function manyMembers(): string {
  const members = Array.from({ length: 150_000 }, (_, at) => `"key${at}":${at}`);
  return `{"model":"bench","input":"Hi",${members.join(",")}}`;
}

type Headers = { readonly [name: string]: string | number };

function post(url: URL, path: string, body: string | Buffer, headers: Headers = {}): Promise<void> {
  return exchange(url, path, headers, (outgoing) => outgoing.end(body));
}

function get(url: URL, path: string, headers: Headers = {}): Promise<void> {
  return exchange(url, path, headers);
}

function exchange(
  url: URL,
  path: string,
  headers: Headers,
  write?: (outgoing: ClientRequest) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const method = write === undefined ? "GET" : "POST";
    const all = { "content-type": "application/json", connection: "close", ...headers };
    const outgoing = request(new URL(path, url), { method, headers: all, timeout: 20_000 });
    outgoing.on("response", (incoming) => incoming.resume().on("close", resolve));
    outgoing.on("error", () => resolve());
    outgoing.on("close", () => resolve());
    outgoing.on("timeout", () => outgoing.destroy());
    if (write === undefined) outgoing.end();
    else write(outgoing);
  });
}

/** Sends 40 MB in chunks, as fast as the server reads. */
function oversized(url: URL, headers: Headers): Promise<void> {
  return exchange(url, "/v1/responses", headers, (outgoing) => {
    let remainingMegabytes = OVERSIZE / MEGABYTE;
    const next = (): void => {
      if (outgoing.destroyed) return;
      if (remainingMegabytes-- === 0) outgoing.end();
      else outgoing.write(filler, next);
    };
    next();
  });
}

/** Announces 8 MB, sends 1 MB and disconnects. */
function abortedBody(url: URL): Promise<void> {
  return exchange(url, "/v1/responses", { "content-length": 8 * MEGABYTE }, (outgoing) => {
    outgoing.write(filler, () => outgoing.destroy());
  });
}

/** Disconnects at the first byte of a streamed response. */
function abortedStream(url: URL): Promise<void> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", connection: "close" };
    const outgoing = request(new URL("/v1/responses", url), { method: "POST", headers });
    outgoing.on("response", (incoming) => {
      incoming.on("error", () => undefined);
      incoming.once("data", () => outgoing.destroy());
    });
    outgoing.on("error", () => resolve());
    outgoing.on("close", () => resolve());
    outgoing.end(prompt({ stream: true }));
  });
}

function pipelined({ host }: URL, count: number): string {
  return `GET /v1/models HTTP/1.1\r\nhost: ${host}\r\n\r\n`.repeat(count);
}

function upgrade({ host }: URL): string {
  return `GET /v1/responses HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: no\r\n\r\n`;
}

/** Sends raw bytes and closes the connection at the first response bytes. */
function raw({ hostname, port }: URL, bytes: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.setTimeout(5000, () => socket.destroy());
    socket.once("data", () => socket.destroy());
    socket.on("error", () => undefined);
    socket.on("close", () => resolve());
  });
}
