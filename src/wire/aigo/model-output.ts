import type { Failure } from "../../domain/errors.ts";
import { toJsonText, type JsonObject } from "../../data/json.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createConverseFold } from "../converse/fold.ts";
import { readUnionEvent } from "../converse/parse.ts";
import { encodeAigoOutput, type AigoOutput } from "./aigo-output.ts";
import type { Anomaly } from "../responses/anomaly.ts";
import { computeShortDigest } from "../../data/short-digest.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The output of an agent in one turn as Converse events, with its session. */
export interface RawModelOutput {
  readonly session_id: string;
  readonly events: readonly unknown[];
  /** Identifies the turn. Default: a digest of the session and the events. */
  readonly turn_id?: string;
  /** Why the stream broke off, if the events do not include the failure. */
  readonly failure?: Failure;
  readonly state?: JsonObject;
  readonly ignored?: readonly string[];
  /** Facts which the items cannot express, in addition to the anomalies found in the events. */
  readonly anomalies?: readonly Anomaly[];
}

/**
 * Stage 3 of an AI GO! connector: encodes the output. An interrupted turn is incomplete and keeps all earlier items.
 */
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
