import type {
  PromptAccepted,
  ToolResultsSubmitted,
  TurnFinished,
  TurnPaused,
} from "../../../domain/events/turn-events.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { TurnEnd } from "../../../domain/provider/provider-event.ts";
import type { TextBlock } from "../../../domain/provider/turn-builder.ts";
import { resolveEntryStatus } from "../items/entry-status.ts";
import type { OutputItem } from "../items/output-item.ts";
import type { ItemStatus } from "../items/response-item.ts";
import {
  encodeResponseObject,
  type ResponseProgress,
  type ResponseObject,
} from "../response-object.ts";
import { toResponseStatus, type ResponseStatus } from "../response-status.ts";
import { NO_USAGE, encodeResponseUsage, type ResponseUsage } from "../response-usage.ts";
import { closeCutToolCall, exposeToolCall } from "./function-call-events.ts";
import { closeExecutedItem } from "./executed-events.ts";
import { closeMessages } from "./message-events.ts";
import type { LifecycleType, StreamEvent } from "./response-stream-event.ts";
import { emitStreamEvent, type MessageDraft, type StreamState } from "./stream-state.ts";
import { closeThoughts } from "./thought-events.ts";

/** Emits the first events. A background response is queued first; any other response is reported as running at once. */
export function beginResponse(
  state: StreamState,
  event: PromptAccepted | ToolResultsSubmitted,
  emit: Emit<StreamEvent>,
  { sessionId, seq, at }: Envelope,
): void {
  state.start = { position: { sessionId, seq }, createdAt: at, promptId: event.promptId };
  if (event.type === "tool_results.submitted") state.turnId = event.turnId;
  const { isBackground } = state.recorded;
  state.status = isBackground ? "queued" : "in_progress";
  emitLifecycleEvent(state, "response.created", emit);
  if (isBackground) emitLifecycleEvent(state, "response.queued", emit);
  if (!isBackground || event.type === "tool_results.submitted") startRunning(state, emit);
}

/** The turn of a queued response starts. */
export function startTurn(state: StreamState, turnId: string, emit: Emit<StreamEvent>): void {
  state.turnId = turnId;
  if (state.recorded.isBackground) startRunning(state, emit);
}

function startRunning(state: StreamState, emit: Emit<StreamEvent>): void {
  state.status = "in_progress";
  emitLifecycleEvent(state, "response.in_progress", emit);
}

/** The turn waits for the caller. The response so far is complete. */
export function pauseResponse(
  state: StreamState,
  event: TurnPaused,
  emit: Emit<StreamEvent>,
): void {
  for (const toolCallId of event.toolCallIds) {
    const draft = state.toolCalls.get(toolCallId);
    if (draft !== undefined) exposeToolCall(state, draft, emit);
  }
  closeOpenItems(state, { isWaiting: true, response: "completed" }, emit);
  finishResponse(state, { status: "completed", incomplete_details: null, error: null }, emit);
}

export function finishTurn(state: StreamState, event: TurnFinished, emit: Emit<StreamEvent>): void {
  if (event.outcome === "cancelled") return cancelResponse(state, emit);
  const { outcome, reason, usage, failure } = event;
  endWithTurn(
    state,
    { type: "end", outcome, reason, usage, openToolCallIds: [], ...(failure && { failure }) },
    emit,
  );
}

/** Ends the response with the status of the turn. Null if the end of the turn is unknown. */
export function endWithTurn(
  state: StreamState,
  turn: TurnEnd | null,
  emit: Emit<StreamEvent>,
): void {
  const status = toResponseStatus(turn);
  if (state.status === "queued") startRunning(state, emit);
  closeOpenItems(state, { isWaiting: false, response: status.status }, emit);
  finishResponse(state, status, emit);
}

/** The specification has no event for a cancellation; the response has the status. */
export function cancelResponse(state: StreamState, emit: Emit<StreamEvent>): void {
  if (state.status === "queued") startRunning(state, emit);
  closeOpenItems(state, { isWaiting: false, response: "failed" }, emit);
  finishResponse(state, { status: "cancelled", incomplete_details: null, error: null }, emit);
}

/** Returns the current state of the response. Null before its first event. */
export function snapshotResponse(state: StreamState): ResponseObject | null {
  if (state.response !== null) return state.response;
  if (state.start === null) return null;
  const response = encodeResponseObject(state.recorded, createResponseProgress(state, IN_PROGRESS));
  const approvals = [...state.approvals.values()];
  return approvals.length === 0 ? response : { ...response, awaiting_approval: approvals };
}

const IN_PROGRESS = {
  incompleteDetails: null,
  error: null,
  completedAt: null,
  usage: null,
} as const;

interface ClosingContext {
  readonly isWaiting: boolean;
  readonly response: ResponseStatus["status"];
}

function closeOpenItems(
  state: StreamState,
  { isWaiting, response }: ClosingContext,
  emit: Emit<StreamEvent>,
): void {
  closeThoughts(state, emit);
  for (const draft of state.toolCalls.values()) {
    closeCutToolCall(state, draft, emit);
    closeExecutedItem(state, draft, null, emit);
  }
  const phase = isWaiting ? "commentary" : "final_answer";
  closeMessages(state, phase, (draft) => resolveMessageStatus(state, draft, response), emit);
}

function resolveMessageStatus(
  state: StreamState,
  { messageId, pieces, isCut, index }: MessageDraft,
  response: ResponseStatus["status"],
): ItemStatus {
  if (isCut) return "incomplete";
  const [block, ...blocks] = pieces.map(({ isFinished }): TextBlock => ({
    ...EMPTY_BLOCK,
    ending: isFinished ? "explicit" : "open",
  }));
  const reason = state.messages.get(messageId)?.reason ?? null;
  const isLast = index === state.output.length - 1;
  const passage = { kind: "passage", role: "assistant", message: 0 } as const;
  return resolveEntryStatus(
    { ...passage, blocks: [block ?? OPEN_BLOCK, ...blocks] },
    { response, isLast, reason },
  );
}

const EMPTY_BLOCK = { kind: "text", key: "", order: 0, message: 0, text: "" } as const;
const OPEN_BLOCK: TextBlock = { ...EMPTY_BLOCK, ending: "open" };

type FinalStatus =
  | ResponseStatus
  | (Omit<ResponseStatus, "status"> & { readonly status: "cancelled" });

function finishResponse(
  state: StreamState,
  finalStatus: FinalStatus,
  emit: Emit<StreamEvent>,
): void {
  const { status, incomplete_details: incompleteDetails, error } = finalStatus;
  state.status = status;
  const completedAt = state.lastEventAt;
  const usage = resolveUsage(state);
  const facts = createResponseProgress(state, { incompleteDetails, error, completedAt, usage });
  state.response = encodeResponseObject(state.recorded, facts);
  if (error !== null) {
    const type = error.code === "model_error" ? "model_error" : "server_error";
    emitStreamEvent(state, { type: "error", error: { ...error, type, param: null } }, emit);
  }
  const last = status === "cancelled" ? "incomplete" : status;
  emitStreamEvent(state, { type: `response.${last}`, response: state.response }, emit);
}

function emitLifecycleEvent(
  state: StreamState,
  type: LifecycleType,
  emit: Emit<StreamEvent>,
): void {
  const response = encodeResponseObject(state.recorded, createResponseProgress(state, IN_PROGRESS));
  emitStreamEvent(state, { type, response }, emit);
}

type ResponseEnding = Pick<
  ResponseProgress,
  "incompleteDetails" | "error" | "completedAt" | "usage"
>;

function createResponseProgress(state: StreamState, ending: ResponseEnding): ResponseProgress {
  const { start, status, output, anomalies } = state;
  const position = start?.position ?? { sessionId: "", seq: 0 };
  const finishedItems = output.filter((item): item is OutputItem => item !== undefined);
  const createdAt = start?.createdAt ?? 0;
  return {
    position,
    createdAt,
    status,
    output: finishedItems,
    anomalies: [...anomalies],
    ...ending,
  };
}

/** Clients sum these counts unchecked: without reported counts the usage is zero, and no step is listed. */
function resolveUsage({ usage: total, steps, status }: StreamState): ResponseUsage | null {
  const usage = encodeResponseUsage(total, steps);
  if (usage === null) return status === "failed" ? null : NO_USAGE;
  return { ...usage, total_tokens: usage.input_tokens + usage.output_tokens };
}
