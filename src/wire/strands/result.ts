import { isObject } from "../../domain/json.ts";
import { diagnose } from "../converse/state.ts";
import { foldFullMessage } from "./full-message.ts";
import { endsWithText, tell, textOf } from "./heard.ts";
import { isMessage } from "./message-blocks.ts";
import { foldBareText } from "./merged.ts";
import { snakeCase } from "./stop-reasons.ts";
import type { Fields, Out, StrandsState } from "./state.ts";

/** Folds what an agent, or an app around it, gives as its result: the last word, and the weakest carrier of text. */
export function foldResult(state: StrandsState, result: unknown, emit: Out): void {
  if (typeof result === "string") foldResultText(state, result, emit);
  else if (isObject(result)) foldResultObject(state, result, emit);
  state.suspect = null;
  state.done = { reason: isObject(result) ? reasonOf(result) : null };
}

function foldResultText(state: StrandsState, text: string, emit: Out): void {
  const { heard } = state;
  if (heard === null) return foldBareText(state, text, emit);
  if (endsWithText(textOf(heard), text)) return;
  const note = "The result differs from the text that came before it; the text before it stands";
  diagnose(state.converse, "text_disagrees", note, emit);
  emit({ type: "unknown", what: "event", name: "result", raw: text });
}

function foldResultObject(state: StrandsState, result: Fields, emit: Out): void {
  const { message, lastMessage, metrics } = result;
  const last = [message, lastMessage, result].find(isMessage);
  if (last === undefined) {
    emit({ type: "activity", kind: "structured-result", raw: result });
    return;
  }
  const counted = foldUsage(state, isObject(metrics) ? metrics : {}, emit);
  foldFullMessage(state, counted ? { ...last, metadata: null } : last, undefined, emit);
}

/** The sum over the loop is of use only where no part of it was reported. */
export function foldUsage(state: StrandsState, metrics: Fields, emit: Out): boolean {
  const { accumulated_usage: usage, accumulated_metrics } = metrics;
  if (state.converse.usage !== null || !isObject(usage)) return false;
  tell(state, "metadata", { usage, metrics: accumulated_metrics }, emit);
  return true;
}

function reasonOf(result: Fields): string | null {
  const reason = result["stop_reason"] ?? result["stopReason"];
  return typeof reason === "string" ? snakeCase(reason) : null;
}
