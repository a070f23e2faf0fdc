import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { fromUtf8, toUtf8 } from "@smithy/util-utf8";

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

/** A scripted server on a real socket. */
export interface Peer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** Resolves when no connection is open. */
  waitUntilQuiet(): Promise<void>;
}

export type PeerResponder = (response: ServerResponse, request: ReceivedRequest) => void;

/**
 * `atEnd` receives the function that closes the server. Default: the server closes at the end of the test. Concurrent
 * tests need their own `atEnd`, because the default may close the server at the end of another test.
 */
export async function startPeer(
  answer: PeerResponder,
  atEnd: (close: () => void) => void = onTestFinished,
): Promise<Peer> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(chunks) };
      requests.push(request);
      answer(response, request);
    });
    incoming.on("error", () => {});
  });
  let whenQuiet: (() => void)[] = [];
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      if (sockets.size > 0) return;
      for (const resolve of whenQuiet) resolve();
      whenQuiet = [];
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    sockets,
    waitUntilQuiet: () =>
      sockets.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            whenQuiet.push(resolve);
          }),
  };
}

const codec = new EventStreamCodec(toUtf8, fromUtf8);

/** A frame created by the encoder of the AWS SDK. */
export function encodeAwsFrame(name: string, payload: unknown, type = "event"): Buffer {
  const named = type === "event" ? ":event-type" : ":exception-type";
  return Buffer.from(
    codec.encode({
      headers: {
        ":message-type": { type: "string", value: type },
        [named]: { type: "string", value: name },
        ":content-type": { type: "string", value: "application/json" },
      },
      body: Buffer.from(JSON.stringify(payload)),
    }),
  );
}

export const EVENT_STREAM = "application/vnd.amazon.eventstream";

export function startEventStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": EVENT_STREAM, "x-amzn-requestid": "request-1" });
}

/** An assistant message with text, in the stream format of Harness. */
export function encodeTextTurn(...texts: readonly string[]): Buffer[] {
  return [
    encodeAwsFrame("messageStart", { role: "assistant" }),
    ...texts.map((text) => encodeTextDelta(text)),
    encodeAwsFrame("contentBlockStop", { contentBlockIndex: 0 }),
    encodeAwsFrame("messageStop", { stopReason: "end_turn" }),
  ];
}

export function encodeTextDelta(text: string): Buffer {
  return encodeAwsFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text } });
}
