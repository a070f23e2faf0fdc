import { isObject } from "../../data/json.ts";
import type { Outcome } from "../../domain/provider/provider-event.ts";
import { isConverseEventName } from "./converse-events.ts";
import { readMessage } from "./message-blocks.ts";
import { foldBareText } from "./merged-event.ts";
import { foldUsage } from "./result.ts";
import type { Fields, EmitEvent, StrandsState } from "./state.ts";

/** Returns whether a type, of Python or TypeScript, is an event about nodes of a graph or swarm. */
export function isNodeEvent(type: string): boolean {
  return NODE_EVENT.test(type);
}

const NODE_EVENT =
  /^multiagent_\w+$|^(?:before|after)NodeCallEvent$|^node\w*Event$|^multiAgent(?:Handoff|Result)Event$/;

/** Emits a node event as activity. Text of a node becomes text of the turn only with the final result. */
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

/** Detects Converse events of a nested agent. Its merged events then only repeat them as reprs. */
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

/** Strands TS has the content of the whole run; in Python the text is the result of the last node. */
function readResultText(result: Fields): string {
  const { content, results, message } = result;
  if (content !== undefined) return readMessage({ content }).text;
  if (isObject(message)) return readMessage(message).text;
  if (!isObject(results)) return "";
  const last: unknown = Object.values(results).at(-1);
  const inner = isObject(last) ? last["result"] : undefined;
  return isObject(inner) ? readResultText(inner) : "";
}
