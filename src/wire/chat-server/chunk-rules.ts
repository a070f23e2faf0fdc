import type { Emit } from "../../domain/codec.ts";
import {
  mapped,
  mappedIf,
  silent,
  silentGroup,
  type EventRules,
} from "../../domain/event-rules.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { TurnFinished, TurnPaused } from "../../domain/events/turn-events.ts";
import { addUsage } from "../../domain/usage.ts";
import { INSTRUCTIONS_AS_TEXT } from "../responses/anomaly.ts";
import { NO_USAGE, encodeResponseUsage } from "../responses/response-usage.ts";
import {
  createChatError,
  type ChatDelta,
  type ChatOutput,
  type FinishReason,
  type ChatError,
} from "./chat-chunk.ts";
import {
  formatArguments,
  encodeTracedCall,
  encodeTracedResult,
  encodeTracedThought,
  dropRedundantTexts,
  type ChatTraceItem,
} from "./chat-trace.ts";
import { encodeChatUsage } from "./chat-usage.ts";
import { emitDelta, type ChunkState } from "./chunk-state.ts";
import { addText, endText, replaceText } from "./chunk-text.ts";

/** Another turn may run while this turn is paused. */
const duringTurn = mappedIf<ChunkState>(
  ({ turnId }, envelope) => turnId !== null && (envelope.turnId ?? turnId) === turnId,
);

/** The rule for every event of a session: how it is encoded for a chat completion client, or why it is not. */
export const CHUNK_RULES: EventRules<ChunkState, ChatOutput> = {
  "session.opened": silent("the response names the session"),
  "agent.configured": silent("the client has named the agent"),
  "session.folders_changed": silent("chat completions have no folders"),
  "session.recovered": silent("its consequences are sent"),
  "session.metadata_changed": silent("chat completions have no conversations"),
  "session.title_changed": silent("chat completions have no titles"),
  "session.mode_changed": silent("chat completions have no modes"),
  "history.imported": silent("sent by the client"),
  "prompt.accepted": mapped((state, { promptId }, emit, envelope) =>
    beginCompletion(state, promptId, emit, envelope),
  ),
  "prompt.withdrawn": mapped((state, { promptId, reason }, emit) => {
    if (state.completion?.promptId !== promptId) return;
    state.isOver = true;
    emit(createChatError("cancelled", `The request was withdrawn before its turn: ${reason}`));
  }),
  "prompt.hidden": silent("the message was sent"),
  "turn.started": mapped((state, { turnId, promptId }) => {
    if (state.completion?.promptId === promptId) state.turnId = turnId;
  }),
  "turn.paused": duringTurn(pauseTurn),
  "tool_results.submitted": mapped((state, { promptId, turnId }, emit, envelope) => {
    if (state.completion !== null) return;
    beginCompletion(state, promptId, emit, envelope);
    state.turnId = turnId;
  }),
  "turn.finished": duringTurn(finishTurn),
  ...silentGroup("internal to the provider connection", [
    "upstream.opened",
    "upstream.settled",
    "invocation.started",
  ]),
  "invocation.finished": duringTurn((state, { usage }) => {
    if (usage !== null) state.usage = state.usage === null ? usage : addUsage(state.usage, usage);
  }),
  "invocation.lost": silent("the end of the turn has the outcome"),
  "message.sent": duringTurn((state, { origin }, emit) => {
    if (origin === "instructions") emitDelta(state, { anomalies: [INSTRUCTIONS_AS_TEXT] }, emit);
  }),
  "message.started": duringTurn((state, { messageId, role }) => {
    state.messageRoles.set(messageId, role);
  }),
  "message.finished": silent("a completion is a single message"),
  "message.replaced": duringTurn((state, event, emit) => replaceText(state, event, emit)),
  "text.delta": duringTurn((state, event, emit) => addText(state, event, emit)),
  "text.finished": duringTurn((state, event, emit) => endText(state, event, emit)),
  "thought.delta": silent("the finished event has the whole text"),
  "thought.finished": duringTurn((state, { text }, _, envelope) => {
    if (text !== "")
      state.trace.push({ toolCallId: null, item: encodeTracedThought(text, envelope) });
  }),
  "tool_call.opened": duringTurn((state, { toolCallId }, _, { seq }) => {
    if (!state.toolCalls.has(toolCallId)) state.toolCalls.set(toolCallId, { seq, call: null });
  }),
  "tool_call.input.delta": silent("the complete tool call has its arguments"),
  "tool_call.received": duringTurn((state, { toolCallId, toolCall }, _, { sessionId, seq }) => {
    const callState = state.toolCalls.get(toolCallId) ?? { seq, call: null };
    callState.call = toolCall;
    state.toolCalls.set(toolCallId, callState);
    const wireCallId = state.options.formatCallId(toolCallId);
    state.trace.push({
      toolCallId,
      item: encodeTracedCall(toolCall, wireCallId, { sessionId, seq: callState.seq }),
    });
  }),
  "tool_call.paths_resolved": silent("its consequences are sent"),
  ...silentGroup("not part of chat completions; the outcome is sent", [
    "policy.decided",
    "approval.requested",
    "approval.routed",
    "approval.voted",
    "approval.resolved",
    "grant.added",
    "grant.revoked",
  ]),
  ...silentGroup("its result is sent", ["tool.started", "tool.waiting_for_host", "tool.progress"]),
  ...silentGroup("internal to the session", ["tool.process_started", "tool.process_exited"]),
  "tool.finished": duringTurn((state, event, _, envelope) => {
    const { toolCallId } = event;
    // Results submitted by the client for tool calls of an earlier response are not repeated.
    if (!state.toolCalls.has(toolCallId)) return;
    const wireCallId = state.options.formatCallId(toolCallId);
    state.trace.push({ toolCallId, item: encodeTracedResult(event, wireCallId, envelope) });
  }),
  "plan.updated": silent("chat completions have no plans"),
  "approvals.invalidated": silent("approvals are requested again"),
  ...silentGroup("injections are not part of a response", [
    "inject.accepted",
    "inject.replaced",
    "inject.revoked",
    "reminder.queued",
    "reminder.replaced",
    "reminder.revoked",
    "reminder.emitted",
    "reminder.recorded",
    "reminder.expired",
  ]),
  ...silentGroup("the caller waits; approvers decide about budgets", [
    "budget.requested",
    "budget.reserved",
    "budget.reached",
    "budget.extended",
    "budget.settled",
  ]),
  ...silentGroup("a response is about its own turn", ["daemon.woken", "daemon.stopped"]),
  ...silentGroup("about the request to the model, not about its response", [
    "compaction.requested",
    "compaction.started",
    "compaction.ended",
    "transcript.compacted",
    "transcript.projected",
  ]),
  ...silentGroup("a worker has its own session", [
    "worker.spawned",
    "worker.progressed",
    "worker.waiting_for_input",
    "worker.completed",
    "worker.failed",
    "worker.stopped",
    "worker.cancelled",
    "worker.reminded",
    "worker.closed",
  ]),
  ...silentGroup("chat completions have no subscriptions to files", [
    "watch.added",
    "watch.removed",
    "files.changed",
  ]),
  ...silentGroup("its tool call is part of the trace", [
    "artifact.emitted",
    "handoff.emitted",
    "progress.reported",
    "log.reported",
  ]),
  ...silentGroup("chat completions have one client", [
    "client.attached",
    "client.heartbeat",
    "client.detached",
    "controller.changed",
    "host.requested",
    "host.replied",
  ]),
  "usage.reported": duringTurn((state, { usage }) => void state.steps.push({ usage })),
  ...silentGroup("not part of chat completions", ["hook.fired", "provider.activity"]),
  ...silentGroup("for operators; in the log", ["diagnostic.raised", "provider.unknown"]),
};

/** Starts the completion. The id derives from the answered event, so it is the same for every replay of the log. */
function beginCompletion(
  state: ChunkState,
  promptId: string,
  emit: Emit<ChatOutput>,
  { sessionId, seq, at }: Envelope,
): void {
  if (state.completion !== null) return;
  const created = Math.floor(at / 1000);
  state.completion = { id: `chatcmpl_${sessionId}_${seq}`, created, promptId };
  const firstDelta = { role: "assistant", content: "", session_id: sessionId } as const;
  emitDelta(state, { ...state.options.state, ...firstDelta }, emit);
}

function pauseTurn(state: ChunkState, { toolCallIds }: TurnPaused, emit: Emit<ChatOutput>): void {
  for (const [index, toolCallId] of toolCallIds.entries()) {
    const call = state.toolCalls.get(toolCallId)?.call;
    if (call === undefined || call === null) continue;
    const functionCall = { name: call.name, arguments: formatArguments(call) };
    const id = state.options.formatCallId(toolCallId);
    emitDelta(
      state,
      { tool_calls: [{ index, id, type: "function", function: functionCall }] },
      emit,
    );
  }
  endCompletion(state, { reason: "tool_calls", clientToolCallIds: toolCallIds }, emit);
}

function finishTurn(state: ChunkState, event: TurnFinished, emit: Emit<ChatOutput>): void {
  const ending = toFinishReason(event);
  if (typeof ending === "string")
    return endCompletion(state, { reason: ending, clientToolCallIds: [] }, emit);
  // Completed actions are reported for every ending of the turn.
  const trace = listTraceItems(state, []);
  if (trace.length > 0) emitDelta(state, { trace }, emit);
  state.isOver = true;
  emit(ending);
}

interface CompletionEnding {
  readonly reason: FinishReason;
  /** Tool calls to be run by the client, excluded from the trace. */
  readonly clientToolCallIds: readonly string[];
}

function endCompletion(
  state: ChunkState,
  { reason, clientToolCallIds }: CompletionEnding,
  emit: Emit<ChatOutput>,
): void {
  const { options, completion } = state;
  const trace = listTraceItems(state, clientToolCallIds);
  const delta: ChatDelta = trace.length > 0 ? { trace } : {};
  emitDelta(state, delta, emit, reason);
  state.isOver = true;
  if (!options.includeUsage || completion === null) return;
  const { id, created } = completion;
  const { model } = options;
  // A turn may consist of several responses: the usage of this response is summed over its own invocations.
  const usage = encodeChatUsage(encodeResponseUsage(state.usage, state.steps) ?? NO_USAGE);
  emit({ id, object: "chat.completion.chunk", created, model, choices: [], usage });
}

/** Returns the trace without client-run tool calls, which are not completed yet. */
function listTraceItems(
  { options, trace }: ChunkState,
  clientToolCallIds: readonly string[],
): ChatTraceItem[] {
  if (options.trace === "none") return [];
  const items = trace.flatMap(({ toolCallId, item }): ChatTraceItem[] => {
    if (toolCallId !== null && clientToolCallIds.includes(toolCallId)) return [];
    return "type" in item ? [item] : [{ type: "text", text: item.text }];
  });
  return dropRedundantTexts(items);
}

/** Maps the end of a turn to a finish reason. Returns an error if chat completions have no matching reason. */
function toFinishReason(turn: TurnFinished): FinishReason | ChatError {
  switch (turn.outcome) {
    case "completed":
      return "stop";
    case "limited":
      return FILTER_REASONS.has(turn.reason ?? "") ? "content_filter" : "length";
    case "cancelled":
      return createChatError("cancelled", "The turn was cancelled before it ended");
    case "failed": {
      const { failure, reason } = turn;
      const message = `The turn failed${reason === null ? "" : `: ${reason}`}`;
      return createChatError(failure?.code ?? "agent_failed", failure?.message ?? message);
    }
  }
}

const FILTER_REASONS: ReadonlySet<string> = new Set(["content_filtered", "guardrail_intervened"]);
