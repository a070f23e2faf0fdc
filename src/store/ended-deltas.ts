import type { AgentEvent, AgentEventType } from "../domain/agent-event.ts";
import type { Envelope } from "../domain/envelope.ts";

/** The events that say which deltas can be dropped; all others need not be looked at. */
export const DELTA_TYPES = [
  "text.delta",
  "text.finished",
  "thought.delta",
  "thought.finished",
  "tool.input.delta",
  "tool.called",
] as const satisfies readonly AgentEventType[];

/** Where the deltas are whose block has ended: its end says the whole. */
export function endedDeltas(events: Iterable<Pick<Envelope, "seq" | "event">>): readonly number[] {
  const open = new Map<string, number[]>();
  const ended: number[] = [];
  for (const { seq, event } of events) {
    const block = blockOf(event);
    if (block === undefined) continue;
    const deltas = open.get(block.key);
    if (!block.isDelta) {
      for (const delta of deltas ?? []) ended.push(delta);
      open.delete(block.key);
    } else if (deltas === undefined) open.set(block.key, [seq]);
    else deltas.push(seq);
  }
  return ended.sort((left, right) => left - right);
}

function blockOf(event: AgentEvent): { key: string; isDelta: boolean } | undefined {
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
    case "tool.input.delta":
    case "tool.called":
      return { key: `tool ${event.toolCallId}`, isDelta: event.type === "tool.input.delta" };
    default:
      return undefined;
  }
}
