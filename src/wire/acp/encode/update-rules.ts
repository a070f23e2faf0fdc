import { toJsonText } from "../../../data/json.ts";
import type { Emit } from "../../../domain/codec.ts";
import { deriveTitle } from "../../../domain/derive-title.ts";
import {
  mapped,
  mappedIf,
  silent,
  silentGroup,
  type EventOf,
  type EventRules,
} from "../../../domain/event-rules.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { SessionModeChanged } from "../../../domain/events/lifecycle-events.ts";
import type {
  PromptAccepted,
  TurnFinished,
  UsageReported,
  MessageSent,
} from "../../../domain/events/turn-events.ts";
import { formatPromptPart } from "../../../domain/format-prompt-part.ts";
import type { RpcOutcome } from "../../jsonrpc/rpc-message.ts";
import { encodeOptions } from "../decode/session-mode-messages.ts";
import { createCommandsUpdate } from "../decode/slash-command.ts";
import { fitObject, fitText, fits, LINE_MARGIN } from "../fit-json.ts";
import type { UserMessage } from "./acp-session-update.ts";
import {
  encodeClientAttached,
  encodeClientDetached,
  encodeClientHeartbeat,
  encodeControllerChanged,
} from "./live-client-updates.ts";
import { encodeDiagnostic, encodeUnknown, encodeRecovery } from "./log-updates.ts";
import {
  encodeApprovalRequested,
  encodeApprovalResolved,
  questionRouted,
} from "./permissions/approval-updates.ts";
import { encodePlanUpdated } from "./plan-updates.ts";
import { encodeCancelledOutcome, encodePromptOutcome, markAsQueued } from "./prompt-outcome.ts";
import { addDelta, endBlock, finishTexts, replaceText, emitChunks } from "./text-updates.ts";
import {
  encodeToolCallOpened,
  encodeToolCallReceived,
  closeToolCalls,
  encodeToolFinished,
  encodeTurnPaused,
  encodeInputDelta,
  encodeToolProgress,
  encodeToolStarted,
} from "./tools/tool-updates.ts";
import { emitUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";

/** Events of a turn that has ended are in the log, but the client already has the response to its prompt. */
const duringTurn = mappedIf<UpdateState>(
  ({ endedTurnId }, { turnId }) => turnId === undefined || turnId !== endedTurnId,
);

/** Every event of a session and what an ACP client is told of it. */
export const UPDATE_RULES: EventRules<UpdateState, AcpOutput> = {
  "session.opened": mapped((state, { workingDirectory, title }, emit) => {
    state.workingDirectory = workingDirectory;
    if (title !== undefined) emitTitle(state, title, emit);
  }),
  "agent.configured": mapped(encodeAgentConfigured),
  "session.folders_changed": silent("whoever set up the session with them knows"),
  "session.recovered": silent("what follows from it is told"),
  "session.metadata_changed": silent("it is for programs that set it"),
  "session.title_changed": mapped((state, { title }, emit) => emitTitle(state, title, emit)),
  "session.mode_changed": mapped(encodeModeChanged),
  "prompt.accepted": mapped(encodePromptAccepted),
  "prompt.withdrawn": mapped((state, { promptId }, emit) => {
    state.clientPrompts.delete(promptId);
    state.submitters.delete(promptId);
    state.queuedPrompts.delete(promptId);
    state.waitedPrompts.delete(promptId);
    // What has its turn cannot be withdrawn.
    emit({ type: "answer", promptId, outcome: markAsQueued(encodeCancelledOutcome()) });
  }),
  "turn.started": mapped((state, { turnId, promptId }, emit) => {
    state.turn = { turnId, promptId };
    state.queuedPrompts.delete(promptId);
    emit({ type: "begun", turnId, promptId });
  }),
  "turn.finished": mapped(encodeTurnFinished),
  ...silentGroup("the provider's side is no matter of the client's", [
    "upstream.opened",
    "upstream.settled",
    "invocation.started",
  ]),
  "invocation.finished": silent("the turn's end says what came of it"),
  "invocation.lost": silent("the question about it, or the message that follows, is told"),
  "message.sent": mapped(encodeSentMessage),
  "message.started": silent("its chunks carry its id"),
  "message.finished": mapped((state, { messageId }) => {
    state.visibleTexts.delete(messageId);
  }),
  "message.replaced": duringTurn(replaceText),
  "text.delta": duringTurn((state, event, emit) =>
    addDelta(state, "agent_message_chunk", event, emit),
  ),
  "text.finished": duringTurn((state, event, emit) =>
    endBlock(state, "agent_message_chunk", event, emit),
  ),
  "thought.delta": duringTurn((state, event, emit) =>
    addDelta(state, "agent_thought_chunk", event, emit),
  ),
  "thought.finished": duringTurn((state, event, emit) =>
    endBlock(state, "agent_thought_chunk", event, emit),
  ),
  "tool_call.opened": duringTurn(encodeToolCallOpened),
  "tool_call.input.delta": duringTurn(encodeInputDelta),
  "tool_call.received": duringTurn(encodeToolCallReceived),
  "tool_call.paths_resolved": silent("what follows from it is told"),
  "policy.decided": silent("the question, or the end of the call, says it"),
  "tool.started": duringTurn(encodeToolStarted),
  "tool.waiting_for_host": silent("the call is open until it ends"),
  ...silentGroup("a process group is the session's own", [
    "tool.process_started",
    "tool.process_exited",
  ]),
  "tool.progress": duringTurn(encodeToolProgress),
  "tool.finished": duringTurn(encodeToolFinished),
  "plan.updated": duringTurn(encodePlanUpdated),
  "approval.requested": mapped(encodeApprovalRequested),
  "approval.routed": mapped(questionRouted),
  "approval.voted": silent("the question is still open"),
  "approval.resolved": mapped(encodeApprovalResolved),
  "history.imported": silent("it was said elsewhere, to somebody else"),
  "prompt.hidden": silent("it was said all the same"),
  "turn.paused": duringTurn(encodeTurnPaused),
  "tool_results.submitted": silent("each result is told with its call"),
  "grant.added": silent("the client that gave it knows"),
  "grant.revoked": silent("the next call asks again"),
  "approvals.invalidated": silent("what is asked again is asked by its own event"),
  "client.attached": mapped(encodeClientAttached),
  "client.heartbeat": mapped(encodeClientHeartbeat),
  "client.detached": mapped(encodeClientDetached),
  "controller.changed": mapped(encodeControllerChanged),
  "host.requested": silent("the client that is asked gets a request"),
  "host.replied": silent("what came of it is told with the call"),
  "usage.reported": duringTurn(encodeUsageReported),
  ...silentGroup("ACP has no word for it", ["hook.fired", "provider.activity"]),
  "diagnostic.raised": mapped(encodeDiagnostic),
  "provider.unknown": mapped(encodeUnknown),
};

/** What can be typed is said in the beginning, by whoever answers the client, and here when it changes. */
function encodeAgentConfigured(
  state: UpdateState,
  { spec }: EventOf<"agent.configured">,
  emit: Emit<AcpOutput>,
): void {
  const previousCommands = toJsonText(state.agent?.commands ?? []);
  state.agent = spec;
  const isNew = toJsonText(spec.commands ?? []) !== previousCommands;
  if (state.isLive && isNew) emitUpdate(state, createCommandsUpdate(spec.commands), emit);
}

function encodePromptAccepted(
  state: UpdateState,
  { promptId, content }: PromptAccepted,
  emit: Emit<AcpOutput>,
  { actor }: Envelope,
): void {
  if (actor?.clientId === state.clientId) state.clientPrompts.add(promptId);
  if (actor?.clientId !== undefined) state.submitters.set(promptId, actor.clientId);
  const isQueued = state.turn !== undefined || state.queuedPrompts.size > 0;
  state.queuedPrompts.add(promptId);
  const title = state.hasTitle ? undefined : deriveTitle(content);
  if (title !== undefined) emitTitle(state, title, emit);
  if (isQueued) emitQueued(state, promptId, emit);
}

/** Who has waited is told so again with the answer; this is for whoever shows what waits. */
function emitQueued(state: UpdateState, promptId: string, emit: Emit<AcpOutput>): void {
  if (!state.isLive || !state.getProfile().isBridgeHost) return;
  const clientId = state.submitters.get(promptId) ?? null;
  const harn = { queued: { promptId, clientId } };
  emitUpdate(state, { sessionUpdate: "session_info_update", _meta: { harn } }, emit);
}

function emitTitle(state: UpdateState, title: string, emit: Emit<AcpOutput>): void {
  state.hasTitle = true;
  const fittedTitle = fitText(title, state.lineBytes / 2);
  emitUpdate(state, { sessionUpdate: "session_info_update", title: fittedTitle }, emit);
}

function encodeTurnFinished(
  state: UpdateState,
  event: TurnFinished,
  emit: Emit<AcpOutput>,
  { at }: Envelope,
): void {
  finishTexts(state, emit);
  closeToolCalls(state, emit, at);
  const promptId = state.turn?.turnId === event.turnId ? state.turn.promptId : undefined;
  state.turn = undefined;
  state.endedTurnId = event.turnId;
  const hasWaited = promptId !== undefined && state.waitedPrompts.delete(promptId);
  const outcome = hasWaited ? markAsQueued(encodePromptOutcome(event)) : encodePromptOutcome(event);
  for (const waiting of state.queuedPrompts) state.waitedPrompts.add(waiting);
  emitTurnEnd(state, { turnId: event.turnId, promptId }, outcome, emit);
  if (promptId !== undefined) emit({ type: "answer", promptId, outcome });
}

function emitTurnEnd(
  state: UpdateState,
  { turnId, promptId }: { readonly turnId: string; readonly promptId: string | undefined },
  outcome: RpcOutcome,
  emit: Emit<AcpOutput>,
): void {
  const clientId = state.submitters.get(promptId ?? "") ?? null;
  state.submitters.delete(promptId ?? "");
  if (!state.getProfile().isBridgeHost) return;
  const { ok: _, ...answer } = outcome;
  const fittedAnswer = fitObject(answer, state.lineBytes / 2);
  const harn = { turn: { turnId, promptId: promptId ?? null, clientId, ...fittedAnswer } };
  emitUpdate(state, { sessionUpdate: "session_info_update", _meta: { harn } }, emit);
}

/** What was there before the client came is in the answer to its request. */
function encodeModeChanged(
  state: UpdateState,
  { mode }: SessionModeChanged,
  emit: Emit<AcpOutput>,
): void {
  state.mode = mode;
  if (!state.isLive) return;
  emitUpdate(state, { sessionUpdate: "current_mode_update", currentModeId: mode }, emit);
  emitUpdate(state, { sessionUpdate: "config_option_update", ...encodeOptions(mode) }, emit);
}

/** How full the model's context is after a call of it. Nothing is told where either number would be a guess. */
function encodeUsageReported(
  state: UpdateState,
  { usage }: UsageReported,
  emit: Emit<AcpOutput>,
): void {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const used = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
  const size = state.agent?.contextTokens;
  if (size === undefined || used === 0) return;
  emitUpdate(state, { sessionUpdate: "usage_update", used, size }, emit);
}

/** What was said to the agent. The client that just said it has it on its screen. */
function encodeSentMessage(
  state: UpdateState,
  event: MessageSent,
  emit: Emit<AcpOutput>,
  { actor }: Envelope,
): void {
  if (event.origin === "recovery") return encodeRecovery(state, event, emit);
  const { promptId, messageId } = event;
  const isFromClient = promptId !== undefined && state.clientPrompts.delete(promptId);
  if (isFromClient && state.isLive) return;
  const texts = event.content.map(formatPromptPart);
  const content = texts.map((text) => ({ type: "text", text }) as const);
  const clientId = actor?.clientId;
  const message: UserMessage = {
    sessionUpdate: "user_message",
    messageId,
    content,
    ...(clientId !== undefined && { _meta: { harn: { clientId } } }),
  };
  const { isBridgeHost, acceptsEvents } = state.getProfile();
  // Only hosts of the bridge know it, where their SDK lets it through, and it cannot come in pieces.
  if (isBridgeHost && !acceptsEvents && fits(message, state.lineBytes - LINE_MARGIN)) {
    return emitUpdate(state, message, emit);
  }
  for (const text of texts) emitChunks(state, "user_message_chunk", { messageId, text }, emit);
}
