import type { ToolFinished } from "../../../domain/events/session-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { formatCallId } from "../response-ids.ts";
import { encodeFunctionCallOutput } from "../items/encode-items.ts";
import { closeCutToolCall } from "./function-call-events.ts";
import { closeExecutedItem, isFailedOutcome } from "./executed-events.ts";
import type { StreamEvent } from "./response-stream-event.ts";
import { closeItem, openItem, getSessionId, type StreamState } from "./stream-state.ts";

/** What came of a call. One that this response did not show is not answered in it either. */
export function encodeToolFinished(
  state: StreamState,
  event: ToolFinished,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  const draft = state.toolCalls.get(event.toolCallId);
  if (draft === undefined || draft.isAnswered) return;
  closeCutToolCall(state, draft, emit);
  draft.isAnswered = true;
  if (draft.presentation !== "function") return closeExecutedItem(state, draft, event, emit);
  const sessionId = getSessionId(state);
  const key = String(seq);
  const callId = formatCallId(sessionId, event.toolCallId);
  const fields = { call_id: callId, output: "" };
  const { index } = openItem(state, { type: "function_call_output", key, fields }, emit);
  const isError = isFailedOutcome(event);
  const result = { ...event.result, toolCallId: callId, isError };
  const facts = { scope: sessionId, status: "completed", output: "text" } as const;
  const item = {
    ...encodeFunctionCallOutput({ key, result }, facts),
    ...(isError && { ending: event.ending }),
  };
  closeItem(state, index, item, emit);
}
