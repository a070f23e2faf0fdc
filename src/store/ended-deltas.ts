import type { SessionEvent, SessionEventType } from "../domain/events/session-event.ts";
import type { Envelope } from "../domain/events/envelope.ts";

/** The event types that decide which deltas can be dropped. Retention reads no other types. */
export const DELTA_EVENT_TYPES = [
  "text.delta",
  "text.finished",
  "thought.delta",
  "thought.finished",
  "tool_call.input.delta",
  "tool_call.received",
] as const satisfies readonly SessionEventType[];

/**
 * The sequence numbers of all deltas whose block has ended. The end event of a block contains its complete text, so the
 * deltas are redundant.
 */
export function findEndedDeltas(
  events: Iterable<Pick<Envelope, "seq" | "event">>,
): readonly number[] {
  const open = new Map<string, number[]>();
  const endedSeqs: number[] = [];
  for (const { seq, event } of events) {
    const block = readBlock(event);
    if (block === undefined) continue;
    const deltas = open.get(block.key);
    if (!block.isDelta) {
      for (const delta of deltas ?? []) endedSeqs.push(delta);
      open.delete(block.key);
    } else if (deltas === undefined) open.set(block.key, [seq]);
    else deltas.push(seq);
  }
  return endedSeqs.sort((first, second) => first - second);
}

function readBlock(event: SessionEvent): { key: string; isDelta: boolean } | undefined {
  switch (event.type) {
    case "text.delta":
    case "text.finished":
      return {
        key: `text ${event.messageId} ${event.block}`,
        isDelta: event.type === "text.delta",
      };
    case "thought.delta":
    case "thought.finished":
      return {
        key: `thought ${event.messageId} ${event.block}`,
        isDelta: event.type === "thought.delta",
      };
    case "tool_call.input.delta":
    case "tool_call.received":
      return { key: `tool ${event.toolCallId}`, isDelta: event.type === "tool_call.input.delta" };
    default:
      return undefined;
  }
}
