import type { IncomingMessage } from "node:http";
import { createSseDecoder, type SseItem } from "../../src/wire/framing/sse.ts";
import { streamCodec } from "../../src/domain/codec.ts";
import type { ServedPortal } from "./start-portal.ts";
import { withDeadline } from "../support/with-deadline.ts";

/** An item of a stream as a browser sees it. */
export interface Seen {
  readonly id: string;
  readonly name: string;
  readonly data: string;
}

export interface SseClient {
  readonly response: IncomingMessage;
  /** The next events; comments are skipped. */
  take(count: number): Promise<readonly Seen[]>;
  /** The next item, which may be a comment. */
  next(): Promise<SseItem | undefined>;
  close(): void;
}

export async function sseClient(
  portal: ServedPortal,
  path: string,
  headers: { readonly [name: string]: string } = {},
): Promise<SseClient> {
  const response = await portal.begin("GET", path, { headers });
  if (response.statusCode !== 200) throw new Error(`The stream answers ${response.statusCode}`);
  response.on("error", () => {});
  const items = streamCodec(createSseDecoder(), response);
  let id = "";
  const next = async (): Promise<SseItem | undefined> => {
    const { value, done } = await withDeadline(
      items.next(),
      () => `${path} is silent after "${id}"`,
    );
    return done === true ? undefined : value;
  };
  return {
    response,
    next,
    async take(count) {
      const seen: Seen[] = [];
      while (seen.length < count) {
        const item = await next();
        if (item === undefined) throw new Error(`The stream ended after ${seen.length} events`);
        if (item.type !== "event") continue;
        id = item.id ?? id;
        seen.push({ id, name: item.event, data: item.data });
      }
      return seen;
    },
    close: () => void response.destroy(),
  };
}
