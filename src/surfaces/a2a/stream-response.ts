import {
  createEventStream,
  formatEvent,
  type EventStreamOptions,
} from "../../http/routing/event-stream.ts";
import type { ServedResponse } from "../../http/server/http-types.ts";
import { toJsonText } from "../../data/json.ts";
import type { PlacedUpdate } from "../../wire/a2a/task.ts";

/** Streams updates as events. The id of an event is the cursor for `Last-Event-ID`. */
export function createUpdateStream(
  updates: AsyncIterable<readonly PlacedUpdate[]>,
  encode: (placed: PlacedUpdate) => object,
  options: EventStreamOptions,
): ServedResponse {
  return createEventStream(formatUpdates(updates, encode), options);
}

async function* formatUpdates(
  updates: AsyncIterable<readonly PlacedUpdate[]>,
  encode: (placed: PlacedUpdate) => object,
): AsyncGenerator<string> {
  for await (const batch of updates) {
    yield batch.map((placed) => formatUpdate(placed, encode)).join("");
  }
}

function formatUpdate(placed: PlacedUpdate, encode: (placed: PlacedUpdate) => object): string {
  return `id: ${placed.sequence}\n${formatEvent(undefined, toJsonText(encode(placed)))}`;
}
