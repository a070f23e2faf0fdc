import { toJsonText } from "../../data/json.ts";
import type { Failure } from "../../domain/errors.ts";
import type { Role, Outcome, TurnEnd } from "../../domain/provider/provider-event.ts";
import { closeSlots, IMPLICIT } from "./blocks.ts";
import { MESSAGE_START, MESSAGE_STOP, type Fields } from "./schema.ts";
import {
  PIECE_OVERHEAD,
  diagnose,
  keepUnknown,
  keepUnknownFields,
  type ConverseState,
  type EmitEvent,
  reportRepeatedDiagnostics,
  type OpenMessage,
} from "./state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export function startMessage(state: ConverseState, fields: Fields, emit: EmitEvent): void {
  keepUnknownFields(state, MESSAGE_START, fields, emit);
  closeMessage(state, emit);
  const { role } = fields;
  if (role === "assistant" || role === "user") return openMessage(state, role, emit);
  if (role === undefined || role === null) {
    diagnose(state, "message_start_missing", "A message started without a role", emit);
    return openMessage(state, "assistant", emit);
  }
  openMessage(state, "other", emit);
  keepUnknown(state, { what: "role", name: toJsonText(role), raw: role }, emit);
}

export function stopMessage(state: ConverseState, fields: Fields, emit: EmitEvent): void {
  keepUnknownFields(state, MESSAGE_STOP, fields, emit);
  if (state.message === null) inferMessage(state, "assistant", emit);
  const { message } = state;
  if (message === null) return;
  if (message.isClosed) {
    return diagnose(state, "event_after_end", "A message was closed twice", emit);
  }
  const { stopReason } = fields;
  message.isClosed = true;
  message.reason = typeof stopReason === "string" ? stopReason : null;
  closeOpenBlocks(state, emit);
  emit({ type: "message.end", message: message.number, reason: message.reason });
  if (typeof stopReason === "string" && !state.outcomes.has(stopReason)) {
    emit({ type: "unknown", what: "reason", name: stopReason, raw: stopReason });
    diagnose(state, "stop_reason_unknown", `Unknown stop reason "${stopReason}"`, emit);
  }
}

interface ContentPlacement {
  /** The role implied by the kind of content. */
  readonly role: Role;
  /** Whether the content may follow the end of its message. False for a start event, which begins a new message. */
  readonly isTrailing: boolean;
}

/** Ensures an open message for content, and infers a missing message start. */
export function ensureMessage(
  state: ConverseState,
  { role, isTrailing }: ContentPlacement,
  emit: EmitEvent,
): void {
  const { message } = state;
  if (message === null) return inferMessage(state, role, emit);
  if (!message.isClosed) return;
  // Text after the end of an answer belongs to the same answer. After a tool round, text begins the next message.
  if (isTrailing && message.role === role && !isToolRound(state, message.reason)) {
    diagnose(state, "event_after_end", "Content arrived after its message was closed", emit);
    return;
  }
  inferMessage(state, role, emit);
}

function isToolRound({ outcomes }: ConverseState, reason: string | null): boolean {
  return reason !== null && outcomes.get(reason) === "action-required";
}

/** Closes the current message if the provider has not closed the message. */
function closeMessage(state: ConverseState, emit: EmitEvent): void {
  closeOpenBlocks(state, emit);
  const { message } = state;
  if (message === null || message.isClosed) return;
  message.isClosed = true;
  diagnose(state, "message_stop_missing", "A message was never closed by the provider", emit);
  emit({ type: "message.end", message: message.number, reason: null });
}

function closeOpenBlocks(state: ConverseState, emit: EmitEvent): void {
  closeSlots(state, state.slots.values(), emit, IMPLICIT);
  state.slots.clear();
}

function inferMessage(state: ConverseState, role: Role, emit: EmitEvent): void {
  closeMessage(state, emit);
  const message = `Content arrived without a message start; the role ${role} was inferred`;
  diagnose(state, "message_start_missing", message, emit);
  openMessage(state, role, emit);
}

function openMessage(state: ConverseState, role: Role, emit: EmitEvent): void {
  const number = state.messageCount++;
  state.characters += PIECE_OVERHEAD;
  state.message = { number, role, isClosed: false, reason: null };
  emit({ type: "message.start", message: number, role });
}

/**
 * Determines the outcome at the end of the stream. The last message decides, and only if the provider closed the
 * message.
 */
export function endTurn(state: ConverseState, emit: EmitEvent): void {
  const { message } = state;
  const isComplete = message !== null && message.isClosed;
  closeMessage(state, emit);
  const openToolCallIds: string[] = [];
  for (const call of state.toolCalls.values()) {
    if (call.isAnswered) continue;
    if (call.runBy === "client") openToolCallIds.push(call.id);
    else diagnose(state, "tool_result_missing", `Server tool call ${call.id} has no result`, emit);
  }
  const verdict = resolveVerdict(state, isComplete ? message : null, openToolCallIds);
  if (verdict.contradiction !== undefined) {
    diagnose(state, "stop_reason_contradicted", verdict.contradiction, emit);
  }
  reportRepeatedDiagnostics(state, emit);
  const { outcome, failure } = verdict;
  const reason = message?.reason ?? null;
  const isWaiting = outcome === "action-required" || outcome === "other";
  const turnEnd: TurnEnd = {
    type: "end",
    outcome,
    reason,
    openToolCallIds: isWaiting ? openToolCallIds : [],
    usage: state.usage,
  };
  const policy = reason === "hook_stopped" ? state.denial : null;
  emit({
    ...turnEnd,
    ...omitUndefined({ failure }),
    ...(policy !== null && { stoppedBy: policy }),
  });
}

interface Verdict {
  readonly outcome: Outcome;
  readonly failure?: Failure;
  readonly contradiction?: string;
}

function resolveVerdict(
  state: ConverseState,
  lastMessage: OpenMessage | null,
  openToolCallIds: readonly string[],
): Verdict {
  if (state.failure !== null) return { outcome: "failed", failure: state.failure };
  if (lastMessage === null) {
    const position = state.messageCount === 0 ? "before any message" : "inside a message";
    return createIncompleteVerdict(`The stream ended ${position}`);
  }
  if (lastMessage.reason === null)
    return createIncompleteVerdict("The last message ended without a reason");
  if (lastMessage.reason === "tool_result") {
    return createIncompleteVerdict(
      "The stream ended on a tool result, before the answer of the agent",
    );
  }
  const outcome = state.outcomes.get(lastMessage.reason) ?? "other";
  if (outcome === "action-required" && openToolCallIds.length === 0) {
    return createIncompleteVerdict(
      "The stream stopped for tools, but no tool call waits for a result",
    );
  }
  if (outcome === "completed" && openToolCallIds.length > 0) {
    const contradiction = `The reason is "${lastMessage.reason}", but ${openToolCallIds.length} tool call(s) wait for a result`;
    return { outcome: "action-required", contradiction };
  }
  if (outcome === "completed" && lastMessage.role === "user") {
    return createIncompleteVerdict(
      "The stream ended on a tool result, before the answer of the agent",
    );
  }
  return outcome === "failed" ? createModelFaultVerdict(lastMessage.reason) : { outcome };
}

function createIncompleteVerdict(message: string): Verdict {
  return { outcome: "failed", failure: { code: "incomplete_turn", message, details: {} } };
}

function createModelFaultVerdict(reason: string): Verdict {
  const message = `The provider ended the turn with "${reason}"`;
  return { outcome: "failed", failure: { code: "stream_exception", message, details: { reason } } };
}
