import type { TurnEnd } from "../../domain/provider/provider-event.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export type ResponseStatus =
  | { readonly status: "completed"; readonly incomplete_details: null; readonly error: null }
  | {
      readonly status: "incomplete";
      readonly incomplete_details: IncompleteDetails;
      readonly error: null;
    }
  | { readonly status: "failed"; readonly incomplete_details: null; readonly error: ResponseError };

export interface IncompleteDetails {
  readonly reason: string;
  /** The hook which stopped the turn. A Spanline extension. */
  readonly hook?: { readonly name: string; readonly reason?: string };
}

export interface ResponseError {
  readonly code: string;
  readonly message: string;
}

/** Maps the end of a turn to the status of a response. Null if the stream had no end. */
export function toResponseStatus(end: TurnEnd | null): ResponseStatus {
  if (end === null)
    return createFailedStatus("incomplete_turn", "The stream stopped before the turn ended");
  const reason = end.reason ?? "";
  const isModelFault = MODEL_FAULTS.has(reason);
  // A broken stream is not a fault of the model, even if the model failed before.
  if (end.failure && !(isModelFault && end.failure.details["reason"] === reason))
    return createFailedStatus(end.failure.code, end.failure.message);
  if (end.outcome === "completed" || end.outcome === "action-required") return COMPLETED_STATUS;
  const incompleteReason = INCOMPLETE_REASONS.get(reason);
  if (incompleteReason !== undefined) return createIncompleteStatus(incompleteReason, end);
  if (isModelFault)
    return createFailedStatus(
      "model_error",
      end.failure?.message ?? `The model's output is unusable: ${reason}`,
    );
  if (end.outcome === "failed")
    return createFailedStatus("incomplete_turn", `The turn failed${reason && `: ${reason}`}`);
  // An unknown reason does not prove success; the provider's reason is passed on.
  return createIncompleteStatus(reason || (end.stoppedBy ? "hook_stopped" : "unknown"), end);
}

/** Returns whether a message with this stop reason is complete. */
export function isFinishedReason(reason: string | null): boolean {
  return reason !== null && FINISHED_REASONS.has(reason);
}

const COMPLETED_STATUS: ResponseStatus = {
  status: "completed",
  incomplete_details: null,
  error: null,
};

const FINISHED_REASONS: ReadonlySet<string> = new Set([
  "end_turn",
  "stop_sequence",
  "tool_use",
  "tool_result",
]);

const MODEL_FAULTS: ReadonlySet<string> = new Set(["malformed_model_output", "malformed_tool_use"]);

const INCOMPLETE_REASONS: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "max_output_tokens"],
  ["max_output_tokens_exceeded", "max_output_tokens"],
  ["max_iterations_exceeded", "max_tool_calls"],
  ["max_steps", "max_tool_calls"],
  ["timeout_exceeded", "timeout"],
  ["max_seconds", "timeout"],
  ["model_context_window_exceeded", "context_length_exceeded"],
  ["content_filtered", "content_filter"],
  ["guardrail_intervened", "content_filter"],
  ["interrupted", "interrupted"],
  ["partial_turn", "partial_turn"],
  ["hook_stopped", "hook_stopped"],
]);

function createFailedStatus(code: string, message: string): ResponseStatus {
  return { status: "failed", incomplete_details: null, error: { code, message } };
}

function createIncompleteStatus(reason: string, { stoppedBy }: TurnEnd): ResponseStatus {
  const hook = stoppedBy && {
    name: stoppedBy.hook,
    ...omitUndefined({ reason: stoppedBy.reason }),
  };
  return {
    status: "incomplete",
    incomplete_details: { reason, ...(hook && { hook }) },
    error: null,
  };
}
