import { isObject } from "../../data/json.ts";
import type { Outcome } from "../../domain/provider/provider-event.ts";
import { isConverseEventName } from "./converse-events.ts";
import { readMessage } from "./message-blocks.ts";
import { foldBareText } from "./merged-event.ts";
import { foldUsage } from "./result.ts";
import type { Fields, EmitEvent, StrandsState } from "./state.ts";

/** Whether a type, of Python or TypeScript, tells what happens to the nodes of a graph or a swarm. */
export function isNodeEvent(type: string): boolean {
  return NODE_EVENT.test(type);
}

const NODE_EVENT =
  /^multiagent_\w+$|^(?:before|after)NodeCallEvent$|^node\w*Event$|^multiAgent(?:Handoff|Result)Event$/;

/** What a node says is told to those who watch it, and is no part of the answer until the whole is done. */
export function foldNodeEvent(
  state: StrandsState,
  type: string,
  fields: Fields,
  emit: EmitEvent,
): true {
  const label = fields["node_id"] ?? fields["nodeId"];
  detectNestedEvents(state, fields["event"]);
  emit({
    type: "activity",
    kind: "node",
    ...(typeof label === "string" && { label }),
    raw: fields,
  });
  if (type === "multiagent_result" || type === "multiAgentResultEvent") {
    finishNodes(state, fields["result"], emit);
  }
  return true;
}

/** The Converse events of an inner agent come as JSON; its merged events then repeat them as reprs. */
export function detectNestedEvents(state: StrandsState, inner: unknown): void {
  const event = isObject(inner) ? inner["event"] : undefined;
  if (isObject(event) && Object.keys(event).some(isConverseEventName)) state.hasNestedEvents = true;
}

function finishNodes(state: StrandsState, result: unknown, emit: EmitEvent): void {
  const fields = isObject(result) ? result : {};
  foldUsage(state, { accumulated_usage: fields["usage"], ...fields }, emit);
  if (state.trackedMessage === null) foldBareText(state, readResultText(fields), emit);
  const { status = "completed" } = fields;
  const statusName = typeof status === "string" ? status.toLowerCase() : "";
  state.suspectedError = null;
  state.loopEnd = { reason: null, outcome: STATUS_OUTCOMES.get(statusName) ?? "other" };
}

const STATUS_OUTCOMES: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ["completed", "completed"],
  ["failed", "failed"],
  ["cancelled", "limited"],
  ["interrupted", "limited"],
]);

/** Strands TS names the content of the whole; in Python it is what the node said that came last. */
function readResultText(result: Fields): string {
  const { content, results, message } = result;
  if (content !== undefined) return readMessage({ content }).text;
  if (isObject(message)) return readMessage(message).text;
  if (!isObject(results)) return "";
  const last: unknown = Object.values(results).at(-1);
  const inner = isObject(last) ? last["result"] : undefined;
  return isObject(inner) ? readResultText(inner) : "";
}
