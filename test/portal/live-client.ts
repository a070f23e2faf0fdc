import { once } from "node:events";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { decodeLiveFrame } from "../../src/wire/live/decode-live-frame.ts";
import type { LiveFrame, LiveRequest } from "../../src/wire/live/live-frames.ts";
import { formatTail, withDeadline } from "../support/with-deadline.ts";

type Headers = { readonly [name: string]: string };
type FrameOf<Type extends LiveFrame["type"]> = Extract<LiveFrame, { readonly type: Type }>;

/** A client of `/api/live` which decodes every frame strictly. */
export interface LiveClient {
  readonly socket: WebSocket;
  /** All frames received so far. */
  readonly frames: readonly LiveFrame[];
  send(request: LiveRequest): void;
  sendText(text: string): void;
  /** Resolves with the next frame of a type, after the frames which earlier calls returned. */
  next<Type extends LiveFrame["type"]>(type: Type): Promise<FrameOf<Type>>;
  /** Reads `events` frames until `count` events of a subscription were received since the last call. */
  takeSeqs(id: string, count: number): Promise<readonly number[]>;
  /** Resolves with the code of the close frame. */
  readonly closed: Promise<number>;
}

export async function connectLive(port: number, headers: Headers = {}): Promise<LiveClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`, { headers });
  onTestFinished(() => socket.terminate());
  const client = createLiveClient(socket);
  await withDeadline(once(socket, "open"), () => "the WebSocket did not open");
  return client;
}

/** The status of the refused upgrade, and the code in the body. */
export async function readRefusal(
  port: number,
  headers: Headers = {},
): Promise<{ readonly status: number | undefined; readonly code: unknown }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`, { headers });
  onTestFinished(() => socket.terminate());
  socket.on("error", () => {});
  const [, response] = await withDeadline(
    once(socket, "unexpected-response"),
    () => "the upgrade was not refused",
  );
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const body = JSON.parse(Buffer.concat(chunks).toString());
  return { status: response.statusCode, code: body.error?.code };
}

function createLiveClient(socket: WebSocket): LiveClient {
  const frames: LiveFrame[] = [];
  const taken = new Set<LiveFrame>();
  let wake = (): void => {};
  socket.on("message", (data: Buffer) => {
    const decoded = decodeLiveFrame(data.toString());
    if (!decoded.ok) throw new Error(`An undecodable frame: ${JSON.stringify(decoded.problem)}`);
    frames.push(decoded.frame);
    wake();
  });
  socket.on("error", () => {});
  const closed = once(socket, "close").then(([code]) => {
    wake();
    return Number(code);
  });
  const isOfType = <Type extends LiveFrame["type"]>(
    frame: LiveFrame,
    type: Type,
  ): frame is FrameOf<Type> => frame.type === type;
  const describe = (): string => formatTail(frames);

  async function next<Type extends LiveFrame["type"]>(type: Type): Promise<FrameOf<Type>> {
    for (;;) {
      for (const frame of frames) {
        if (taken.has(frame) || !isOfType(frame, type)) continue;
        taken.add(frame);
        return frame;
      }
      if (socket.readyState === WebSocket.CLOSED) throw new Error(`Closed: ${describe()}`);
      const change = new Promise<void>((resolve) => (wake = resolve));
      await withDeadline(change, () => `no frame "${type}" after ${describe()}`);
    }
  }

  return {
    socket,
    frames,
    closed,
    next,
    send: (request) => socket.send(JSON.stringify(request)),
    sendText: (text) => socket.send(text),
    async takeSeqs(id, count) {
      const seqs: number[] = [];
      while (seqs.length < count) {
        const frame = await next("events");
        if (frame.id === id) seqs.push(...frame.events.map(({ seq }) => seq));
      }
      return seqs;
    },
  };
}
