import type { ApprovalResolved } from "../../domain/events/approval-events.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { PlanUpdated } from "../../domain/events/tool-events.ts";
import type { MessageSent } from "../../domain/events/turn-events.ts";
import type { Codec, Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { toJsonText } from "../../data/json.ts";
import { DECISION_NAMES } from "../../domain/policy/approval-decision.ts";
import { RECOVERY_NOTICE } from "../../domain/recovery-notice.ts";
import type { PlanStatus } from "../../domain/plan.ts";
import { createTurnStream, type TurnStreamState } from "../../domain/provider/turn-stream.ts";
import { toSingleLine, escapeControls, type Style } from "../../inspect/trace-style.ts";
import { createTraceEncoder, type TraceState } from "../../inspect/trace-encoder.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { formatPromptPart } from "../../domain/format-prompt-part.ts";

interface TranscriptState {
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
  const turn = createTurnStream();
  const trace = createTraceEncoder(style);
  const fresh = (): TranscriptState => ({
    stream: turn.initial(),
    trace: trace.initial(),
    openMessages: new Set(),
    isResumed: false,
    isInvoking: false,
    loss: "none",
  });
  return {
    initial: fresh,
    step(state, { at, event }, emit) {
      emitLossNotice(state, event, (line) => emit(style.bad(`  ! ${line}\n`)));
      if (event.type === "turn.started") {
        Object.assign(state, fresh());
        return emit(style.dim(`\n── ${formatIsoTime(at)} ──\n`));
      }
      turn.step(state.stream, event, (providerEvent) => {
        // A tool result is printed below its tool call, without a heading for its sender.
        if (providerEvent.type === "tool.result") state.trace.heading = providerEvent.message;
        trace.step(state.trace, providerEvent, emit);
      });
      if (event.type === "turn.finished") {
        turn.finish(state.stream, (end) => trace.step(state.trace, end, emit));
        trace.finish(state.trace, emit);
      }
      emitSessionNote(event, style, emit);
      trackResume(state, event);
      if (!state.isResumed || state.openMessages.size > 0) return;
      state.isResumed = false;
      emit(style.warn("  ! session resumed after a restart\n"));
    },
    finish() {},
  };
}

function trackResume(state: TranscriptState, event: SessionEvent): void {
  switch (event.type) {
    case "message.started":
      state.openMessages.add(event.messageId);
      return;
    case "message.finished":
      state.openMessages.delete(event.messageId);
      return;
    case "turn.finished":
      state.openMessages.clear();
      return;
    case "invocation.started":
      state.isInvoking = true;
      return;
    case "invocation.finished":
      state.isInvoking = false;
      return;
    case "invocation.lost":
      if (state.loss === "none") state.loss = "connection";
      state.isInvoking = false;
      return;
    case "session.recovered":
      // The loss of the invocation follows, and its line covers both.
      if (state.isInvoking) state.loss = "restart";
      else state.isResumed = true;
      return;
    default:
      return;
  }
}

/**
 * Emits one line for a lost invocation, once the log shows how the turn continues. An approval request about the loss
 * has its own line.
 */
function emitLossNotice(state: TranscriptState, event: SessionEvent, emit: Emit<string>): void {
  const isRecovery = event.type === "message.sent" && event.origin === "recovery";
  if (state.loss === "none") {
    if (isRecovery) emit(RECOVERY_NOTICE);
    return;
  }
  const isQuestion = event.type === "approval.requested" && event.question === "lost-invocation";
  if (!isRecovery && !isQuestion && !CONTINUING_EVENTS.has(event.type)) return;
  const { loss } = state;
  state.loss = "none";
  if (isQuestion) return;
  const notice = isRecovery ? RECOVERY_NOTICE : "The connection to the agent was lost";
  emit(loss === "restart" ? `Session resumed after a restart: ${notice}` : notice);
}

/** Events that follow a loss if no approver is asked: another invocation, or the end of the turn. */
const CONTINUING_EVENTS: ReadonlySet<SessionEvent["type"]> = new Set([
  "invocation.started",
  "turn.finished",
  "turn.started",
]);

/** Emits the lines for events other than agent output. */
function emitSessionNote(event: SessionEvent, style: Style, emit: Emit<string>): void {
  switch (event.type) {
    case "message.sent":
      return event.origin === "recovery" ? undefined : emit(formatSentMessage(event, style));
    case "tool.progress":
      return emit(style.dim(`  … ${toSingleLine(event.text)}\n`));
    case "approval.requested": {
      const { action, input, approvalId } = event;
      const subject = toSingleLine(input === null ? action : `${action} ${toJsonText(input)}`);
      return emit(`${style.warn("  ?")} ${subject} ${style.dim(toSingleLine(approvalId))}\n`);
    }
    case "approval.resolved":
      return emit(`${style.note("  =")} ${formatResolution(event)}\n`);
    case "plan.updated":
      return emit(formatPlan(event, style));
    case "session.mode_changed":
      return emit(style.dim(`  · the mode is now ${event.mode}\n`));
    case "prompt.withdrawn":
      return emit(style.dim("  · a queued prompt was withdrawn\n"));
    default:
      return;
  }
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
  }[origin];
  const lines = content.flatMap((part) => escapeControls(formatPromptPart(part)).split("\n"));
  return `${style.strong(sender)}\n${lines.map((line) => `  ${line}\n`).join("")}\n`;
}

function formatResolution({ decision, resolvedBy, reason }: ApprovalResolved): string {
  return toSingleLine(
    `${DECISION_NAMES[decision]}${RESOLVED_BY_TEXTS[resolvedBy]}${reason === undefined ? "" : `: ${reason}`}`,
  );
}

const RESOLVED_BY_TEXTS: { readonly [By in ApprovalResolved["resolvedBy"]]: string } = {
  person: "",
  deadline: ", because no decision arrived in time",
  cancel: ", by the end of the turn",
  change: ", because the rules, the mode or the tool changed",
};
