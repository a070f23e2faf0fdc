import { isObject } from "../../data/json.ts";
import { diagnose } from "../converse/state.ts";
import { foldFullMessage } from "./full-message.ts";
import { endsWithText, stepConverse, readMessageText } from "./message-tracker.ts";
import { isMessage } from "./message-blocks.ts";
import { foldBareText } from "./merged-event.ts";
import { toSnakeCase } from "./loop-stop-reasons.ts";
import type { Fields, EmitEvent, StrandsState } from "./state.ts";

/** Folds the result of an agent or its app: the end of the loop, and the carrier of text with the lowest priority. */
export function foldResult(state: StrandsState, result: unknown, emit: EmitEvent): void {
  if (typeof result === "string") foldResultText(state, result, emit);
  else if (isObject(result)) foldResultObject(state, result, emit);
  state.suspectedError = null;
  state.loopEnd = { reason: isObject(result) ? readStopReason(result) : null };
}

function foldResultText(state: StrandsState, text: string, emit: EmitEvent): void {
  const { trackedMessage } = state;
  if (trackedMessage === null) return foldBareText(state, text, emit);
  if (endsWithText(readMessageText(trackedMessage), text)) return;
  const note = "The result differs from the earlier text; the earlier text is used";
  diagnose(state.converse, "text_disagrees", note, emit);
  emit({ type: "unknown", what: "event", name: "result", raw: text });
}

function foldResultObject(state: StrandsState, result: Fields, emit: EmitEvent): void {
  const { message, lastMessage, metrics } = result;
  const last = [message, lastMessage, result].find(isMessage);
  if (last === undefined) {
    emit({ type: "activity", kind: "structured-result", raw: result });
    return;
  }
  const hasUsage = foldUsage(state, isObject(metrics) ? metrics : {}, emit);
  foldFullMessage(state, hasUsage ? { ...last, metadata: null } : last, undefined, emit);
}

/** Uses the token sum of the loop only if no event reported tokens before. */
export function foldUsage(state: StrandsState, metrics: Fields, emit: EmitEvent): boolean {
  const { accumulated_usage: usage, accumulated_metrics } = metrics;
  if (state.converse.usage !== null || !isObject(usage)) return false;
  stepConverse(state, "metadata", { usage, metrics: accumulated_metrics }, emit);
  return true;
}

function readStopReason(result: Fields): string | null {
  const reason = result["stop_reason"] ?? result["stopReason"];
  return typeof reason === "string" ? toSnakeCase(reason) : null;
}
