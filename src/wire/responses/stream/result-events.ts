import type { ToolFinished } from "../../../domain/agent-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/envelope.ts";
import { callIdOf } from "../ids.ts";
import { functionCallOutputItem } from "../items.ts";
import { cutShort } from "./call-events.ts";
import { closeExecuted, isFailure } from "./executed-events.ts";
import type { StreamEvent } from "./stream-event.ts";
import { closeItem, openItem, sessionOf, type StreamState } from "./stream-state.ts";

/** What came of a call. One that this response did not show is not answered in it either. */
export function toolFinished(
  state: StreamState,
  event: ToolFinished,
  emit: Emit<StreamEvent>,
  { seq }: Envelope,
): void {
  const draft = state.calls.get(event.toolCallId);
  if (draft === undefined || draft.isAnswered) return;
  cutShort(state, draft, emit);
  draft.isAnswered = true;
  if (draft.shownAs !== "function") return closeExecuted(state, draft, event, emit);
  const sessionId = sessionOf(state);
  const key = String(seq);
  const callId = callIdOf(sessionId, event.toolCallId);
  const fields = { call_id: callId, output: "" };
  const { index } = openItem(state, { type: "function_call_output", key, fields }, emit);
  const isError = isFailure(event);
  const result = { ...event.result, callId, isError };
  const facts = { scope: sessionId, status: "completed", output: "text" } as const;
  const item = {
    ...functionCallOutputItem({ key, result }, facts),
    ...(isError && { ending: event.ending }),
  };
  closeItem(state, index, item, emit);
}
