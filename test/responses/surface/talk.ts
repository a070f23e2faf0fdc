import { once } from "node:events";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { withDeadline } from "../../support/with-deadline.ts";
import type { Fields } from "../support/recorded-stream.ts";
import type { World } from "./responses-world.ts";

/** A WebSocket client which the test reads frame by frame. */
export interface Talk {
  readonly socket: WebSocket;
  send(frame: unknown): void;
  next(): Promise<Fields>;
  /** Sends a request and returns the frames up to the end of its response, or up to a refusal. */
  turn(body: object): Promise<Fields[]>;
  end(): Promise<Fields[]>;
  readonly closed: Promise<number>;
}

/** Connects to the WebSocket of a world. The connection closes when the test ends. */
export async function talkWith(
  world: World,
  path = "/responses",
  key = world.apiKey,
): Promise<Talk> {
  const headers = { authorization: `Bearer ${key}` };
  const url = `${world.baseUrl.replace(/^http/, "ws")}${path}`;
  const socket = new WebSocket(url, { headers });
  onTestFinished(() => socket.terminate());
  const waiting: Fields[] = [];
  let wake = (): void => {};
  socket.on("message", (data: Buffer) => {
    waiting.push(JSON.parse(data.toString()));
    wake();
  });
  await once(socket, "open");
  const closed = once(socket, "close").then(([code]) => Number(code));
  const next = async (): Promise<Fields> => {
    for (;;) {
      const frame = waiting.shift();
      if (frame !== undefined) return frame;
      const more = new Promise<void>((resolve) => (wake = resolve));
      await withDeadline(more, () => "the socket is silent");
    }
  };
  const send = (frame: unknown): void =>
    socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
  const end = async (): Promise<Fields[]> => {
    const seen: Fields[] = [];
    for (;;) {
      const frame = await next();
      seen.push(frame);
      if (/^response\.(?:completed|failed|incomplete)$/.test(String(frame["type"]))) return seen;
      if (frame["type"] === "error" && "status" in frame) return seen;
    }
  };
  return {
    socket,
    send,
    next,
    end,
    turn(body) {
      send({ type: "response.create", ...body });
      return end();
    },
    closed,
  };
}
