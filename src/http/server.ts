import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ConnectionReset } from "./connection-reset.ts";
import { foreignReason, hostName } from "./local-requests.ts";
import { readBody } from "./read-body.ts";
import { sendAnswer } from "./send-answer.ts";
import type { HeaderField, ServedAnswer, ServedRequest } from "./served.ts";

export interface ServerOptions {
  /** A loopback address or name. */
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** Names beside those of the loopback and the bound host under which clients may call. */
  readonly allowedHosts?: readonly string[];
  readonly limits: ServerLimits;
  handle(request: ServedRequest): Promise<ServedAnswer>;
  /** The answer to a request that does not reach `handle`. */
  refuse(refusal: Refusal): ServedAnswer;
  /** Told of what `handle` or a body threw: that is a bug, and its client only sees the connection end. */
  onBug(error: unknown): void;
}

export interface ServerLimits {
  /** Of one body; asked for each request, since some paths take more than others. */
  bodyBytes(path: string): number;
  /** Of all headers of a request together. */
  readonly headerBytes: number;
}

export interface Refusal {
  readonly status: 400 | 403 | 413;
  readonly message: string;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Takes no more connections and ends those that there are, in the middle of an answer too. */
  close(): Promise<void>;
}

/** Serves HTTP/1.1 to programs on this machine, byte for byte as its handler says. Rejects when it cannot listen. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const server = createServer(
    {
      maxHeaderSize: options.limits.headerBytes,
      // Longer than clients keep a connection: whoever closes first must not be the one who cannot see a request coming.
      keepAliveTimeout: 65_000,
    },
    (incoming, outgoing) => void serve(incoming, outgoing, options),
  );
  const { port } = await listening(server, options);
  const isAnyHost = options.host === "0.0.0.0" || options.host === "::";
  const host = isAnyHost ? "127.0.0.1" : bracketed(options.host);
  return {
    url: `http://${host}:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, { host, port }: ServerOptions): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("No TCP address"));
      else resolve(address);
    });
  });
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ServerOptions,
): Promise<void> {
  const gone = goneSignal(outgoing);
  try {
    await sendAnswer(outgoing, await answerTo(incoming, gone, options), gone);
  } catch (error) {
    if (error instanceof ConnectionReset) await reset(outgoing);
    else if (!gone.aborted) options.onBug(error);
    outgoing.destroy();
  }
}

async function answerTo(
  incoming: IncomingMessage,
  gone: AbortSignal,
  options: ServerOptions,
): Promise<ServedAnswer> {
  const headers = headerFields(incoming.rawHeaders);
  const bound = hostName(bracketed(options.host)) ?? options.host;
  const foreign = foreignReason(headers, [bound, ...(options.allowedHosts ?? [])]);
  if (foreign !== undefined) return options.refuse({ status: 403, message: foreign });
  const { method = "GET", url: target = "" } = incoming;
  if (!target.startsWith("/")) {
    return options.refuse({ status: 400, message: "The request target is no path" });
  }
  const [path = "", query = ""] = splitOnce(target, "?");
  const limit = options.limits.bodyBytes(path);
  const body = await readBody(incoming, limit);
  if (body === undefined) {
    return options.refuse({ status: 413, message: `The body has more than ${limit} bytes` });
  }
  return options.handle({ method, path, query, headers, body, gone });
}

function headerFields(raw: readonly string[]): HeaderField[] {
  const fields: HeaderField[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    fields.push([(raw[at] ?? "").toLowerCase(), raw[at + 1] ?? ""]);
  }
  return fields;
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

function goneSignal(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) controller.abort(new Error("The client is gone"));
  });
  return controller.signal;
}

/** What was written before goes out first: a reset throws away all that is still waiting. */
async function reset({ socket }: ServerResponse): Promise<void> {
  if (socket === null || socket.destroyed) return;
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.write("", () => resolve());
  });
  socket.resetAndDestroy();
}
