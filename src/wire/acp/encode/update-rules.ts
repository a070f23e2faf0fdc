import { toJsonText, type JsonObject } from "../../../data/json.ts";
import type { FileChangeEntry } from "../../../domain/outputs/file-watch.ts";
import type { Emit } from "../../../domain/codec.ts";
import { deriveTitle } from "../../../domain/events/derive-title.ts";
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
import { formatPromptPart } from "../../../domain/prompt.ts";
import type { RpcOutcome } from "../../jsonrpc/rpc-message.ts";
import { encodeOptions } from "../decode/session-mode-messages.ts";
import { createCommandsUpdate } from "../decode/slash-command.ts";
import { fitObject, fitText, fits, LINE_MARGIN } from "../fit-json.ts";
import type { UserMessage } from "./acp-session-update.ts";
import { encodeArtifactEmitted } from "./artifact-updates.ts";
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
  emitRouteChange,
  routeQuestions,
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
import { emitUpdate, emitVendorUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";
import {
  encodeCompacted,
  encodeCompactionEnded,
  encodeCompactionStarted,
} from "./transcript-updates.ts";
import {
  encodeFsWatch,
  encodeHandoff,
  encodeLog,
  encodeProgress,
  encodeReminderEmitted,
  encodeTranscriptProjected,
} from "./vendor-updates.ts";
import { encodeWorkerEvent } from "./worker-updates.ts";

/**
 * Skips events of an ended turn: the log may contain late events, but the client already has the response to its
 * prompt.
 */
const duringTurn = mappedIf<UpdateState>(
  ({ endedTurnId }, { turnId }) => turnId === undefined || turnId !== endedTurnId,
);

/** Maps every session event to its updates, or states why a client receives none. */
export const UPDATE_RULES: EventRules<UpdateState, AcpOutput> = {
  "session.opened": mapped((state, { workingDirectory, title, lineage }, emit) => {
    state.workingDirectory = workingDirectory;
    state.lineage = lineage;
    if (title !== undefined) emitTitle(state, title, emit);
  }),
  "agent.configured": mapped(encodeAgentConfigured),
  "session.folders_changed": silent("the client that set the folders knows them"),
  "session.recovered": silent("the resulting events are sent"),
  "session.metadata_changed": silent("metadata is for the programs that set it"),
  "session.title_changed": mapped((state, { title }, emit) => emitTitle(state, title, emit)),
  "session.mode_changed": mapped(encodeModeChanged),
  "prompt.accepted": mapped(encodePromptAccepted),
  "prompt.withdrawn": mapped((state, { promptId }, emit) => {
    state.clientPrompts.delete(promptId);
    state.submitters.delete(promptId);
    state.queuedPrompts.delete(promptId);
    state.waitedPrompts.delete(promptId);
    routeQuestions(state, emit);
    // Only a queued prompt can be withdrawn.
    emit({ type: "answer", promptId, outcome: markAsQueued(encodeCancelledOutcome()) });
  }),
  "turn.started": mapped((state, { turnId, promptId, wake }, emit) => {
    state.turn = { turnId, promptId };
    state.isBackgroundTurn = wake !== undefined;
    emitDaemonState(state, emit);
    state.queuedPrompts.delete(promptId);
    emit({ type: "begun", turnId, promptId });
  }),
  "turn.finished": mapped(encodeTurnFinished),
  ...silentGroup("provider internals are not sent to clients", [
    "upstream.opened",
    "upstream.settled",
    "invocation.started",
  ]),
  "invocation.finished": silent("the end of the turn reports the outcome"),
  "invocation.lost": silent("the approval request or the recovery message is sent"),
  "message.sent": mapped(encodeSentMessage),
  "message.started": silent("its chunks have its id"),
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
  "tool_call.paths_resolved": silent("the resulting events are sent"),
  "policy.decided": silent("the approval request or the end of the tool call shows it"),
  "tool.started": duringTurn(encodeToolStarted),
  "tool.waiting_for_host": silent("the tool call stays open until it ends"),
  ...silentGroup("process groups are internal", ["tool.process_started", "tool.process_exited"]),
  "tool.progress": duringTurn(encodeToolProgress),
  "tool.finished": duringTurn(encodeToolFinished),
  "plan.updated": duringTurn(encodePlanUpdated),
  "approval.requested": mapped(encodeApprovalRequested),
  "approval.routed": mapped(emitRouteChange),
  "approval.voted": silent("the approval is still open"),
  "approval.resolved": mapped(encodeApprovalResolved),
  "history.imported": silent("the history comes from another conversation"),
  "prompt.hidden": silent("a hidden prompt stays part of the conversation"),
  "turn.paused": duringTurn(encodeTurnPaused),
  "tool_results.submitted": silent("each result is sent with its tool call"),
  "grant.added": silent("the client that added the grant knows it"),
  "grant.revoked": silent("the next tool call requests approval again"),
  "approvals.invalidated": silent("a new approval request has its own event"),
  "client.attached": mapped(encodeClientAttached),
  "client.heartbeat": mapped(encodeClientHeartbeat),
  "client.detached": mapped(encodeClientDetached),
  "controller.changed": mapped(encodeControllerChanged),
  "host.requested": silent("the host receives a request"),
  "host.replied": silent("the outcome is sent with the tool call"),
  ...silentGroup("the message is sent when it is delivered", [
    "inject.accepted",
    "inject.replaced",
    "inject.revoked",
  ]),
  "reminder.emitted": mapped(encodeEmittedReminder),
  "reminder.queued": mapped((state, _, emit) => emitDaemonState(state, emit)),
  ...silentGroup("session/pending_injections lists the reminders", [
    "reminder.replaced",
    "reminder.revoked",
    "reminder.recorded",
    "reminder.expired",
  ]),
  ...silentGroup("the approval request is sent", ["budget.reached", "budget.extended"]),
  ...silentGroup("reservations are internal", [
    "budget.requested",
    "budget.reserved",
    "budget.settled",
  ]),
  "daemon.woken": silent("the turn of a woken daemon is sent"),
  "daemon.stopped": mapped((state, { attempts, elapsedMs }, emit) => {
    state.isIdle = false;
    emitDaemonState(state, emit);
    if (state.isLive && state.getProfile().isBridgeHost)
      emit({ type: "daemon-stopped", attempts, elapsedMs });
  }),
  "compaction.requested": silent("the end of the compaction is sent"),
  "compaction.started": mapped(encodeCompactionStarted),
  "compaction.ended": mapped(encodeCompactionEnded),
  "transcript.compacted": mapped(encodeCompacted),
  "transcript.projected": mapped((state, { projection }, emit) =>
    emitVendorUpdate(state, encodeTranscriptProjected(projection), emit),
  ),
  "worker.spawned": mapped(encodeWorkerEvent),
  "worker.progressed": mapped(encodeWorkerEvent),
  "worker.waiting_for_input": mapped(encodeWorkerEvent),
  "worker.completed": mapped(encodeWorkerEvent),
  "worker.failed": mapped(encodeWorkerEvent),
  "worker.stopped": mapped(encodeWorkerEvent),
  "worker.cancelled": mapped(encodeWorkerEvent),
  "worker.reminded": silent("the session of the worker reports the reminder"),
  "worker.closed": mapped((state, { workerId }) => void state.workers.delete(workerId)),
  ...silentGroup("the subscriber knows its subscription", ["watch.added", "watch.removed"]),
  "files.changed": mapped((state, { subscriptionId, entries }, emit) => {
    const events = entries.map(encodeFileChangeEntry);
    emitVendorUpdate(state, encodeFsWatch({ subscriptionId, events }), emit);
  }),
  "progress.reported": mapped((state, { phase, message, progress, total, data }, emit) =>
    emitVendorUpdate(state, encodeProgress({ phase, message, progress, total, data }), emit),
  ),
  "log.reported": mapped((state, { level, message, fields }, emit) =>
    emitVendorUpdate(state, encodeLog({ level, message, fields }), emit),
  ),
  "artifact.emitted": mapped(encodeArtifactEmitted),
  "handoff.emitted": mapped((state, { handoffId, artifactId, handoff }, emit) =>
    emitVendorUpdate(state, encodeHandoff({ handoffId, artifactId, handoff }), emit),
  ),
  "usage.reported": duringTurn(encodeUsageReported),
  ...silentGroup("ACP has no equivalent", ["hook.fired", "provider.activity"]),
  "diagnostic.raised": mapped(encodeDiagnostic),
  "provider.unknown": mapped(encodeUnknown),
};

/** Emits the slash commands if they changed. The initial list is sent with the result of the setup request. */
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
  if (isQueued) routeQuestions(state, emit);
}

/**
 * Emits a queued prompt to bridge hosts, for displaying the queue. The sender also receives `queued` in the response.
 */
function emitQueued(state: UpdateState, promptId: string, emit: Emit<AcpOutput>): void {
  if (!state.isLive || !state.getProfile().isBridgeHost) return;
  const clientId = state.submitters.get(promptId) ?? null;
  const harn = { queued: { promptId, clientId } };
  emitUpdate(state, { sessionUpdate: "session_info_update", _meta: { harn } }, emit);
}

/** Emits whether a daemon waits for activity. Each output restarts the daemon's idle notifications. */
export function emitDaemonState(state: UpdateState, emit: Emit<AcpOutput>): void {
  const daemon = state.agent?.daemon;
  if (daemon === undefined || !state.isLive) return;
  const isIdle = state.isIdle && state.turn === undefined && state.queuedPrompts.size === 0;
  emit({ type: "daemon", daemon: isIdle ? daemon : undefined });
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
  if (state.toolCalls.size > 0) closeToolCalls(state, emit, at);
  state.endedToolCalls.clear();
  const promptId = state.turn?.turnId === event.turnId ? state.turn.promptId : undefined;
  state.turn = undefined;
  state.endedTurnId = event.turnId;
  const hasWaited = promptId !== undefined && state.waitedPrompts.delete(promptId);
  const outcome = hasWaited ? markAsQueued(encodePromptOutcome(event)) : encodePromptOutcome(event);
  for (const waiting of state.queuedPrompts) state.waitedPrompts.add(waiting);
  emitTurnEnd(state, { turnId: event.turnId, promptId }, outcome, emit);
  if (promptId !== undefined) emit({ type: "answer", promptId, outcome });
  state.isBackgroundTurn = false;
  state.isIdle = true;
  emitDaemonState(state, emit);
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

/** Emits a mode change. A mode set before the attach is part of the attach result. */
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

/**
 * Emits the context usage after an invocation. No update is sent if the used tokens or the context size are unknown.
 */
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

function encodeEmittedReminder(
  state: UpdateState,
  { reminderId, reminder, renderedRole }: EventOf<"reminder.emitted">,
  emit: Emit<AcpOutput>,
): void {
  const { tags, body, roleHint, source, ttlTurns = null } = reminder;
  const fields = { reminderId, tags, body, roleHint, renderedRole, source, ttlTurns };
  emitVendorUpdate(state, encodeReminderEmitted(fields), emit);
}

/** Emits a message to the agent. A reminder has its own update, and a live prompt is not echoed to its sender, whose screen already shows the prompt. */
function encodeSentMessage(
  state: UpdateState,
  event: MessageSent,
  emit: Emit<AcpOutput>,
  { actor }: Envelope,
): void {
  if (event.origin === "recovery") return encodeRecovery(state, event, emit);
  if (event.origin === "reminder" || event.origin === "wake") return;
  const { promptId, messageId } = event;
  const isFromClient = promptId !== undefined && state.clientPrompts.delete(promptId);
  if (isFromClient && state.isLive && event.origin !== "inject") return;
  // The client takes part in the daemon's own turn, so it is shown the rest of the turn.
  if (event.origin === "inject" && actor?.clientId === state.clientId) {
    state.isBackgroundTurn = false;
    routeQuestions(state, emit);
  }
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
  // `user_message` is sent only to bridge hosts whose SDK accepts unknown updates, and only if it fits into a line,
  // since it cannot be split. Otherwise the message is sent in chunks.
  if (isBridgeHost && !acceptsEvents && fits(message, state.lineBytes - LINE_MARGIN)) {
    return emitUpdate(state, message, emit);
  }
  for (const text of texts) emitChunks(state, "user_message_chunk", { messageId, text }, emit);
}

function encodeFileChangeEntry(entry: FileChangeEntry): JsonObject {
  const { kind, paths, relativePaths, rawKind, error } = entry;
  return { kind, paths, relative_paths: relativePaths, raw_kind: rawKind, error };
}
