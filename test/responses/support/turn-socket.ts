import { on, once } from "node:events";
import { WebSocket } from "ws";
import { isObject } from "../../../src/data/json.ts";
import { checkedStream, type Fields, type StreamEvent } from "./recorded-stream.ts";
import { check, shaped, type Target } from "./target.ts";
import { formatTail, withDeadline } from "../../support/with-deadline.ts";

/** A WebSocket with sequential turns. */
export interface TurnSocket {
  /** Runs a turn to its end: returns the response, or the error envelope of a refusal. */
  turn(body: object): Promise<{ readonly response?: Fields; readonly refusal?: Fields }>;
  /** Runs a turn which must end with a completed response. */
  completed(body: object): Promise<Fields>;
  close(): void;
}

export async function openSocket({ baseUrl, apiKey, model }: Target): Promise<TurnSocket> {
  const url = `${baseUrl.replace(/^http/, "ws")}/responses`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${apiKey}` } });
  const frames = on(socket, "message", { close: ["close"] });
  await once(socket, "open");

  async function turn(body: object): ReturnType<TurnSocket["turn"]> {
    socket.send(JSON.stringify({ type: "response.create", model, ...body }));
    const events: StreamEvent[] = [];
    for (;;) {
      const state = (): string => `the socket is silent after\n  ${formatTail(events)}`;
      const { value, done } = await withDeadline(frames.next(), state);
      check(done !== true, `The socket closed after ${events.length} events of a turn`);
      const [data] = value;
      const frame: unknown = JSON.parse(String(data));
      check(isObject(frame), `A frame holds no object: ${String(data)}`);
      if (frame["type"] === "error" && "status" in frame) {
        return { refusal: shaped("SocketError", frame) };
      }
      events.push({ ...frame, type: String(frame["type"]) });
      if (isTerminal(frame)) return { response: checkedStream(events).response };
    }
  }

  return {
    turn,
    async completed(body) {
      const { response, refusal } = await turn(body);
      check(response !== undefined, `The turn was refused: ${JSON.stringify(refusal)}`);
      return response;
    },
    close: () => socket.terminate(),
  };
}

function isTerminal({ type }: Fields): boolean {
  return /^response\.(completed|failed|incomplete)$/.test(String(type));
}
