import type {
  PromptAccepted,
  ResultsGiven,
  TurnFinished,
  TurnPaused,
} from "../../../domain/agent-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/envelope.ts";
import type { TurnEnd } from "../../../domain/provider-event.ts";
import type { TextBlock } from "../../../domain/turn-state.ts";
import { entryStatus } from "../entry-status.ts";
import type { OutputItem } from "../output-item.ts";
import type { ItemStatus } from "../response-item.ts";
import { responseObject, type ResponseFacts, type ResponseObject } from "../response-object.ts";
import { responseStatus, type ResponseStatus } from "../response-status.ts";
import { NO_USAGE, responseUsage, type ResponseUsage } from "../response-usage.ts";
import { cutShort, handOut } from "./call-events.ts";
import { closeExecuted } from "./executed-events.ts";
import { closeMessages } from "./message-events.ts";
import type { LifecycleType, StreamEvent } from "./stream-event.ts";
import { tell, type MessageDraft, type StreamState } from "./stream-state.ts";
import { closeThoughts } from "./thought-events.ts";

/** The first event. In the background a response waits first; otherwise its caller does, and is told that it runs. */
export function begin(
  state: StreamState,
  event: PromptAccepted | ResultsGiven,
  emit: Emit<StreamEvent>,
  { sessionId, seq, at }: Envelope,
): void {
  state.begun = { place: { sessionId, seq }, createdAt: at, promptId: event.promptId };
  if (event.type === "results.given") state.turnId = event.turnId;
  const { isBackground } = state.recorded;
  state.status = isBackground ? "queued" : "in_progress";
  tellLife(state, "response.created", emit);
  if (isBackground) tellLife(state, "response.queued", emit);
  if (!isBackground || event.type === "results.given") run(state, emit);
}

/** Its turn has come. */
export function startTurn(state: StreamState, turnId: string, emit: Emit<StreamEvent>): void {
  state.turnId = turnId;
  if (state.recorded.isBackground) run(state, emit);
}

function run(state: StreamState, emit: Emit<StreamEvent>): void {
  state.status = "in_progress";
  tellLife(state, "response.in_progress", emit);
}

/** The turn waits for the caller: so far it is complete. */
export function pause(state: StreamState, event: TurnPaused, emit: Emit<StreamEvent>): void {
  for (const toolCallId of event.toolCallIds) {
    const draft = state.calls.get(toolCallId);
    if (draft !== undefined) handOut(state, draft, emit);
  }
  closeAll(state, { isWaiting: true, response: "completed" }, emit);
  end(state, { status: "completed", incomplete_details: null, error: null }, emit);
}

export function finishTurn(state: StreamState, event: TurnFinished, emit: Emit<StreamEvent>): void {
  if (event.outcome === "cancelled") return cancel(state, emit);
  const { outcome, reason, usage, failure } = event;
  endAs(
    state,
    { type: "end", outcome, reason, usage, openCalls: [], ...(failure && { failure }) },
    emit,
  );
}

/** Ends as the turn did; null where nobody knows how it ended. */
export function endAs(state: StreamState, turn: TurnEnd | null, emit: Emit<StreamEvent>): void {
  const status = responseStatus(turn);
  if (state.status === "queued") run(state, emit);
  closeAll(state, { isWaiting: false, response: status.status }, emit);
  end(state, status, emit);
}

/** No event of the specification's says so; the response itself does. */
export function cancel(state: StreamState, emit: Emit<StreamEvent>): void {
  if (state.status === "queued") run(state, emit);
  closeAll(state, { isWaiting: false, response: "failed" }, emit);
  end(state, { status: "cancelled", incomplete_details: null, error: null }, emit);
}

/** The response as it stands. */
export function responseNow(state: StreamState): ResponseObject | null {
  if (state.response !== null) return state.response;
  if (state.begun === null) return null;
  const response = responseObject(state.recorded, factsOf(state, UNDER_WAY));
  const approvals = [...state.approvals.values()];
  return approvals.length === 0 ? response : { ...response, awaiting_approval: approvals };
}

const UNDER_WAY = { incompleteDetails: null, error: null, completedAt: null, usage: null } as const;

interface Closing {
  readonly isWaiting: boolean;
  readonly response: ResponseStatus["status"];
}

function closeAll(
  state: StreamState,
  { isWaiting, response }: Closing,
  emit: Emit<StreamEvent>,
): void {
  closeThoughts(state, emit);
  for (const draft of state.calls.values()) {
    cutShort(state, draft, emit);
    closeExecuted(state, draft, null, emit);
  }
  const phase = isWaiting ? "commentary" : "final_answer";
  closeMessages(state, phase, (draft) => messageStatus(state, draft, response), emit);
}

function messageStatus(
  state: StreamState,
  { messageId, pieces, isCut, index }: MessageDraft,
  response: ResponseStatus["status"],
): ItemStatus {
  if (isCut) return "incomplete";
  const [block, ...blocks] = pieces.map(({ isFinished }): TextBlock => ({
    ...BLOCK,
    ending: isFinished ? "explicit" : "open",
  }));
  const reason = state.messages.get(messageId)?.reason ?? null;
  const isLast = index === state.output.length - 1;
  const passage = { kind: "passage", role: "assistant", message: 0 } as const;
  return entryStatus(
    { ...passage, blocks: [block ?? OPEN, ...blocks] },
    { response, isLast, reason },
  );
}

const BLOCK = { kind: "text", key: "", order: 0, message: 0, text: "" } as const;
const OPEN: TextBlock = { ...BLOCK, ending: "open" };

type Ended = ResponseStatus | (Omit<ResponseStatus, "status"> & { readonly status: "cancelled" });

function end(state: StreamState, ended: Ended, emit: Emit<StreamEvent>): void {
  const { status, incomplete_details: incompleteDetails, error } = ended;
  state.status = status;
  const completedAt = state.now;
  const usage = usageOf(state);
  const facts = factsOf(state, { incompleteDetails, error, completedAt, usage });
  state.response = responseObject(state.recorded, facts);
  if (error !== null) {
    const type = error.code === "model_error" ? "model_error" : "server_error";
    tell(state, { type: "error", error: { ...error, type, param: null } }, emit);
  }
  const last = status === "cancelled" ? "incomplete" : status;
  tell(state, { type: `response.${last}`, response: state.response }, emit);
}

function tellLife(state: StreamState, type: LifecycleType, emit: Emit<StreamEvent>): void {
  const response = responseObject(state.recorded, factsOf(state, UNDER_WAY));
  tell(state, { type, response }, emit);
}

type Ending = Pick<ResponseFacts, "incompleteDetails" | "error" | "completedAt" | "usage">;

function factsOf(state: StreamState, ending: Ending): ResponseFacts {
  const { begun, status, output, anomalies } = state;
  const place = begun?.place ?? { sessionId: "", seq: 0 };
  const finished = output.filter((item): item is OutputItem => item !== undefined);
  const createdAt = begun?.createdAt ?? 0;
  return { place, createdAt, status, output: finished, anomalies: [...anomalies], ...ending };
}

/** Clients add these up without looking: where nobody counted, it is zero, and no step is listed. */
function usageOf({ usage: total, steps, status }: StreamState): ResponseUsage | null {
  const usage = responseUsage(total, steps);
  if (usage === null) return status === "failed" ? null : NO_USAGE;
  return { ...usage, total_tokens: usage.input_tokens + usage.output_tokens };
}
