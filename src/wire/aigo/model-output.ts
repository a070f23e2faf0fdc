import type { Failure } from "../../domain/errors.ts";
import { toJsonText, type JsonObject } from "../../data/json.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createConverseFold } from "../converse/fold.ts";
import { readUnionEvent } from "../converse/parse.ts";
import { encodeAigoOutput, type AigoOutput } from "./aigo-output.ts";
import type { Anomaly } from "../responses/anomaly.ts";
import { computeShortDigest } from "../../data/short-digest.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** What an agent said in one turn, as a Converse stream has it, and the session that it said it in. */
export interface RawModelOutput {
  readonly session_id: string;
  readonly events: readonly unknown[];
  /** Names the turn among all others; without it, what was said does. */
  readonly turn_id?: string;
  /** Why the stream broke off, where its events do not say so. */
  readonly failure?: Failure;
  readonly state?: JsonObject;
  readonly ignored?: readonly string[];
  /** What the items cannot say, beside what is found in the events. */
  readonly anomalies?: readonly Anomaly[];
}

/** The third stage. What broke off is incomplete, and keeps all that came before. */
export function convertModelOutput(raw: RawModelOutput): AigoOutput {
  const { session_id: sessionId, events, turn_id, failure, state, ignored, anomalies } = raw;
  const scope = turn_id ?? computeShortDigest(`${sessionId} ${toJsonText(events)}`);
  return encodeAigoOutput(decodeProviderEvents(events, failure), {
    scope,
    sessionId,
    ...omitUndefined({ state, ignored, anomalies }),
  });
}

function decodeProviderEvents(
  events: readonly unknown[],
  failure: Failure | undefined,
): ProviderEvent[] {
  const out: ProviderEvent[] = [];
  const emit = (event: ProviderEvent): void => void out.push(event);
  const fold = createConverseFold();
  const state = fold.initial();
  for (const event of events) {
    for (const message of readUnionEvent(event)) fold.step(state, message, emit);
  }
  if (failure !== undefined) fold.step(state, { type: "failure", failure }, emit);
  fold.finish(state, emit);
  return out;
}
