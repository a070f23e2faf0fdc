import { formatQuantity } from "../../domain/budget.ts";
import type { WorkerEvent, WorkerSpawned } from "../../domain/events/worker-events.ts";
import type { ApprovalRequested, ApprovalResolved } from "../../domain/events/approval-events.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { PlanUpdated } from "../../domain/events/tool-events.ts";
import type { MessageSent, TurnFinished } from "../../domain/events/turn-events.ts";
import type { Codec, Emit } from "../../domain/codec.ts";
import {
  applyEventRule,
  mapped,
  silent,
  silentGroup,
  type EventRules,
} from "../../domain/event-rules.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { toJsonText } from "../../data/json.ts";
import { formatHandoff } from "../../domain/outputs/handoff.ts";
import { formatAnswer } from "../../domain/question.ts";
import { DECISION_NAMES } from "../../domain/policy/approval-decision.ts";
import { formatFileChanges } from "../../domain/outputs/file-watch.ts";
import { formatProgress } from "../../domain/outputs/progress-report.ts";
import { RECOVERY_NOTICE } from "../../domain/events/turn-events.ts";
import type { PlanStatus } from "../../domain/outputs/plan.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createTurnStream, type TurnStreamState } from "../../domain/provider/turn-stream.ts";
import { toSingleLine, escapeControls, type Style } from "../../inspect/trace-style.ts";
import { createTraceEncoder, type TraceState } from "../../inspect/trace-encoder.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { formatPromptPart } from "../../domain/prompt.ts";
import {
  formatCompaction,
  formatCompactionEnd,
} from "../../domain/transcript/format-compaction.ts";
import { formatProjection } from "../../domain/transcript/format-projection.ts";

interface TranscriptState extends TurnState {
  readonly style: Style;
  readonly turnCodec: TurnCodec;
  readonly traceCodec: TraceCodec;
}

type TurnCodec = Codec<TurnStreamState, SessionEvent, ProviderEvent>;
type TraceCodec = Codec<TraceState, ProviderEvent, string>;

/** The part of the state that is reset when a turn starts. */
interface TurnState {
  stream: TurnStreamState;
  trace: TraceState;
  /** Messages of the agent that have not ended. */
  openMessages: Set<string>;
  /**
   * The session was resumed after a restart. The event precedes the message ends in the log, but people saw the restart
   * after the messages.
   */
  isResumed: boolean;
  /** An invocation has started and not ended. */
  isInvoking: boolean;
  /** Set from the loss of an invocation until the transcript has a line about the loss. */
  loss: "none" | "restart" | "connection";
}

/** Encodes the log of a session as a transcript for people: turn by turn, each block when it ends. */
export function createTranscript(style: Style): Codec<TranscriptState, Envelope, string> {
  const codecs = { turnCodec: createTurnStream(), traceCodec: createTraceEncoder(style) };
  return {
    initial: () => ({ style, ...codecs, ...createTurnState(codecs) }),
    step(state, envelope, emit) {
      applyEventRule(TRANSCRIPT_RULES, state, envelope, emit);
      if (!state.isResumed || state.openMessages.size > 0) return;
      state.isResumed = false;
      emit(style.warn("  ! session resumed after a restart\n"));
    },
    finish() {},
  };
}

function createTurnState({
  turnCodec,
  traceCodec,
}: Pick<TranscriptState, "turnCodec" | "traceCodec">): TurnState {
  return {
    stream: turnCodec.initial(),
    trace: traceCodec.initial(),
    openMessages: new Set(),
    isResumed: false,
    isInvoking: false,
    loss: "none",
  };
}

/** A rule with the line of a change of a worker. */
function workerChange(change: string) {
  return mapped<TranscriptState, string, Exclude<WorkerEvent, WorkerSpawned>>(
    ({ style }, { workerId }, emit) => emit(style.dim(`  ⑂ worker ${workerId} ${change}\n`)),
  );
}

/** Agent output: the trace of the turn formats the event. */
const traced = mapped(traceEvent);

/** The rule for every event of a session: its lines in the transcript, or the reason for no line. */
export const TRANSCRIPT_RULES: EventRules<TranscriptState, string> = {
  "session.opened": silent("the heading of the command names the session"),
  "session.folders_changed": silent("the heading of the command has the working directory"),
  "agent.configured": silent("the heading of the command names the agent"),
  "session.recovered": mapped((state) => {
    // The loss of the invocation follows, and its line covers both.
    if (state.isInvoking) state.loss = "restart";
    else state.isResumed = true;
  }),
  "session.title_changed": silent("the heading of the command has the title"),
  "session.metadata_changed": silent("metadata is for the programs that set it"),
  "session.mode_changed": mapped(({ style }, { mode }, emit) =>
    emit(style.dim(`  · the mode is now ${mode}\n`)),
  ),
  "history.imported": silent("the history comes from another conversation"),
  "prompt.accepted": silent("the message to the agent has its text"),
  "prompt.withdrawn": mapped(({ style }, _, emit) =>
    emit(style.dim("  · a queued prompt was withdrawn\n")),
  ),
  "prompt.hidden": silent("a hidden prompt stays part of the log"),
  "turn.started": mapped((state, _, emit, { at }) => {
    emitLossNotice(state, emit);
    Object.assign(state, createTurnState(state));
    emit(state.style.dim(`\n── ${formatIsoTime(at)} ──\n`));
  }),
  "turn.finished": mapped(encodeTurnFinished),
  "turn.paused": silent("the tool calls that wait have their lines"),
  "tool_results.submitted": silent("each result has its own line"),
  ...silentGroup("internal to the provider connection", ["upstream.opened", "upstream.settled"]),
  "invocation.started": mapped((state, _, emit) => {
    emitLossNotice(state, emit);
    state.isInvoking = true;
  }),
  "invocation.finished": mapped((state) => {
    state.isInvoking = false;
  }),
  "invocation.lost": mapped((state) => {
    if (state.loss === "none") state.loss = "connection";
    state.isInvoking = false;
  }),
  "message.sent": mapped((state, event, emit) => {
    if (event.origin === "recovery") return emitRecoveryNotice(state, emit);
    emit(formatSentMessage(event, state.style));
  }),
  "message.started": mapped((state, event, emit) => {
    traceEvent(state, event, emit);
    state.openMessages.add(event.messageId);
  }),
  "message.finished": mapped((state, event, emit) => {
    traceEvent(state, event, emit);
    state.openMessages.delete(event.messageId);
  }),
  "message.replaced": traced,
  "text.delta": traced,
  "text.finished": traced,
  "thought.delta": traced,
  "thought.finished": traced,
  "tool_call.opened": traced,
  "tool_call.input.delta": traced,
  "tool_call.received": traced,
  "tool_call.paths_resolved": silent("its consequences have their lines"),
  "policy.decided": silent("the approval request or the end of the tool call shows the decision"),
  ...silentGroup("the end of the tool call has the outcome", [
    "tool.started",
    "tool.waiting_for_host",
    "tool.process_started",
    "tool.process_exited",
  ]),
  "tool.progress": mapped(({ style }, { text }, emit) =>
    emit(style.dim(`  … ${toSingleLine(text)}\n`)),
  ),
  "tool.finished": traced,
  "plan.updated": mapped(({ style }, event, emit) => emit(formatPlan(event, style))),
  "approval.requested": mapped(encodeApprovalRequested),
  ...silentGroup("the decision has its line", ["approval.routed", "approval.voted"]),
  "approval.resolved": mapped(({ style }, event, emit) =>
    emit(`${style.note("  =")} ${formatResolution(event)}\n`),
  ),
  ...silentGroup("`sessions audit` lists grants", ["grant.added", "grant.revoked"]),
  "approvals.invalidated": silent("approvals are requested again"),
  ...silentGroup("a transcript has no clients", [
    "client.attached",
    "client.heartbeat",
    "client.detached",
    "controller.changed",
  ]),
  ...silentGroup("between the session and a client", ["host.requested", "host.replied"]),
  "inject.accepted": silent("the message to the agent has its text"),
  ...silentGroup("a message that was not delivered is not part of the conversation", [
    "inject.replaced",
    "inject.revoked",
  ]),
  "reminder.queued": silent("the reminder has its line when the agent receives it"),
  "reminder.emitted": silent("the message to the agent has the text of the reminder"),
  "reminder.recorded": mapped(({ style }, { reminder }, emit) =>
    emit(style.dim(`  · reminder for the record: ${toSingleLine(reminder.body)}\n`)),
  ),
  ...silentGroup("a reminder that was not delivered is not part of the conversation", [
    "reminder.replaced",
    "reminder.revoked",
    "reminder.expired",
  ]),
  "worker.spawned": mapped(({ style }, { name, agent, sessionId, cycle }, emit) =>
    emit(style.dim(`  ⑂ worker ${name} (${agent}) started cycle ${cycle}: ${sessionId}\n`)),
  ),
  "worker.progressed": workerChange("was triggered"),
  "worker.waiting_for_input": workerChange("waits for a trigger"),
  "worker.completed": workerChange("is done"),
  "worker.failed": workerChange("failed"),
  "worker.stopped": workerChange("handed its work over"),
  "worker.cancelled": workerChange("was cancelled"),
  "worker.reminded": silent("the reminder is shown"),
  "worker.closed": silent("the end of the worker is shown"),
  "daemon.woken": mapped(({ style }, { reason }, emit) =>
    emit(style.dim(`  · the daemon was woken by: ${reason}\n`)),
  ),
  "daemon.stopped": mapped(({ style }, { attempts }, emit) =>
    emit(style.dim(`  · the daemon stopped after ${attempts} idle waits\n`)),
  ),
  "watch.added": mapped(({ style }, { paths }, emit) =>
    emit(style.dim(`  · files are watched: ${toSingleLine(paths.join(", "))}\n`)),
  ),
  "watch.removed": silent("the changes of files end"),
  "files.changed": mapped(({ style }, { entries }, emit) =>
    emit(style.dim(`  · files changed: ${toSingleLine(formatFileChanges(entries))}\n`)),
  ),
  "progress.reported": mapped(({ style }, report, emit) =>
    emit(style.dim(`  … ${toSingleLine(formatProgress(report))}\n`)),
  ),
  "log.reported": mapped(({ style }, { level, message }, emit) =>
    emit(style.dim(`  · ${level}: ${toSingleLine(message)}\n`)),
  ),
  "artifact.emitted": mapped(({ style }, { kind, title, fallback, artifactId }, emit) => {
    const name = toSingleLine(title ?? fallback.slice(0, 80));
    emit(`${style.note("  ◆")} ${kind}: ${name} ${style.dim(toSingleLine(artifactId))}\n`);
  }),
  "handoff.emitted": mapped(({ style }, { handoff }, emit) =>
    emit(`${style.note("  →")} ${toSingleLine(formatHandoff(handoff))}\n`),
  ),
  "budget.reached": silent("the approval request has its line"),
  "budget.extended": mapped(({ style }, { scope, unit, cap }, emit) =>
    emit(style.dim(`  · the budget ${scope} is now ${formatQuantity(unit, cap)}\n`)),
  ),
  ...silentGroup("reservations are internal; `sessions usage` shows the amounts", [
    "budget.requested",
    "budget.reserved",
    "budget.settled",
  ]),
  "compaction.requested": silent("the end of the compaction has its line"),
  "compaction.started": silent("the end of the compaction has its line"),
  "compaction.ended": mapped(({ style }, event, emit) =>
    emit(style.dim(`  · ${formatCompactionEnd(event)}\n`)),
  ),
  "transcript.compacted": mapped(({ style }, { receipt }, emit) =>
    emit(style.dim(`  · ${formatCompaction(receipt)}\n`)),
  ),
  "transcript.projected": mapped(({ style }, { projection }, emit) =>
    emit(style.dim(`  · ${formatProjection(projection)}\n`)),
  ),
  "usage.reported": traced,
  "hook.fired": traced,
  "provider.activity": traced,
  "diagnostic.raised": traced,
  "provider.unknown": traced,
};

function traceEvent(state: TranscriptState, event: SessionEvent, emit: Emit<string>): void {
  const { turnCodec, traceCodec, stream, trace } = state;
  turnCodec.step(stream, event, (providerEvent) => {
    // A tool result is printed below its tool call, without a heading for its sender.
    if (providerEvent.type === "tool.result") trace.heading = providerEvent.message;
    traceCodec.step(trace, providerEvent, emit);
  });
}

function encodeTurnFinished(state: TranscriptState, event: TurnFinished, emit: Emit<string>): void {
  const { turnCodec, traceCodec, stream, trace, openMessages } = state;
  emitLossNotice(state, emit);
  traceEvent(state, event, emit);
  turnCodec.finish(stream, (end) => traceCodec.step(trace, end, emit));
  traceCodec.finish(trace, emit);
  openMessages.clear();
}

/**
 * Emits one line for a lost invocation if the turn continues without a question to an approver: with another
 * invocation, or with its end.
 */
function emitLossNotice(state: TranscriptState, emit: Emit<string>): void {
  emitLoss(state, "The connection to the agent was lost", emit);
}

/** Emits one line for a repeated input. The line covers the loss of the invocation. */
function emitRecoveryNotice(state: TranscriptState, emit: Emit<string>): void {
  if (state.loss === "none") return emit(state.style.bad(`  ! ${RECOVERY_NOTICE}\n`));
  emitLoss(state, RECOVERY_NOTICE, emit);
}

function emitLoss(state: TranscriptState, notice: string, emit: Emit<string>): void {
  const { loss, style } = state;
  if (loss === "none") return;
  state.loss = "none";
  const line = loss === "restart" ? `Session resumed after a restart: ${notice}` : notice;
  emit(style.bad(`  ! ${line}\n`));
}

function encodeApprovalRequested(
  state: TranscriptState,
  { action, input, approvalId, question, form }: ApprovalRequested,
  emit: Emit<string>,
): void {
  const { style } = state;
  // The request about a lost invocation is the line about the loss.
  if (question === "lost-invocation") state.loss = "none";
  // The text of a question is also in its arguments.
  const isComplete = input === null || form !== undefined;
  const subject = toSingleLine(isComplete ? action : `${action} ${toJsonText(input)}`);
  emit(`${style.warn("  ?")} ${subject} ${style.dim(toSingleLine(approvalId))}\n`);
}

/** Formats one line per entry, with a sign for its status. */
function formatPlan({ entries }: PlanUpdated, style: Style): string {
  const lines = entries.map(
    ({ content, status }) => `  ${PLAN_STATUS_SIGNS[status]} ${toSingleLine(content)}\n`,
  );
  return `${style.dim(entries.length === 0 ? "  plan cleared" : "  plan")}\n${lines.join("")}`;
}

const PLAN_STATUS_SIGNS: { readonly [Status in PlanStatus]: string } = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  blocked: "[!]",
  cancelled: "[-]",
};

function formatSentMessage({ origin, content }: MessageSent, style: Style): string {
  const sender = {
    prompt: "user",
    instructions: "instructions",
    recovery: "spanline",
    reprompt: "spanline",
    inject: "user",
    reminder: "reminder",
    wake: "spanline",
  }[origin];
  const lines = content.flatMap((part) => escapeControls(formatPromptPart(part)).split("\n"));
  return `${style.strong(sender)}\n${lines.map((line) => `  ${line}\n`).join("")}\n`;
}

function formatResolution({ decision, resolvedBy, reason, answer }: ApprovalResolved): string {
  const isPlain = answer === undefined || answer === true;
  const name = isPlain ? DECISION_NAMES[decision] : formatAnswer(answer);
  return toSingleLine(
    `${name}${RESOLVED_BY_TEXTS[resolvedBy]}${reason === undefined ? "" : `: ${reason}`}`,
  );
}

const RESOLVED_BY_TEXTS: { readonly [By in ApprovalResolved["resolvedBy"]]: string } = {
  person: "",
  deadline: ", because no decision arrived in time",
  cancel: ", by the end of the turn",
  change: ", because the rules, the mode or the tool changed",
};
