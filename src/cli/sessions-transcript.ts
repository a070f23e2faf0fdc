import type {
  AgentEvent,
  ApprovalResolved,
  MessageSent,
  PlanUpdated,
} from "../domain/agent-event.ts";
import type { Codec, Emit } from "../domain/codec.ts";
import type { Envelope } from "../domain/envelope.ts";
import { jsonText } from "../domain/json.ts";
import type { PlanStatus } from "../domain/plan.ts";
import { turnStream, type TurnStreamState } from "../domain/turn-stream.ts";
import { oneLine, printable, type Style } from "../inspect/style.ts";
import { traceEncoder, type TraceState } from "../inspect/trace.ts";
import { isoTime } from "../domain/iso-time.ts";
import { partText } from "../domain/part-text.ts";

interface TranscriptState {
  stream: TurnStreamState;
  trace: TraceState;
  /** Messages of the agent that have not ended. */
  openMessages: Set<string>;
  /** That the session was taken up again: the log has it before the ends of what was said until then, people saw it after. */
  isRetaken: boolean;
}

/** What was said and done in a session, for people: turn by turn, each block when it ends. */
export function sessionTranscript(style: Style): Codec<TranscriptState, Envelope, string> {
  const turn = turnStream();
  const trace = traceEncoder(style);
  const fresh = (): TranscriptState => ({
    stream: turn.initial(),
    trace: trace.initial(),
    openMessages: new Set(),
    isRetaken: false,
  });
  return {
    initial: fresh,
    step(state, { at, event }, emit) {
      if (event.type === "turn.started") {
        Object.assign(state, fresh());
        return emit(style.dim(`\n── ${isoTime(at)} ──\n`));
      }
      turn.step(state.stream, event, (said) => {
        // A result stands below its call, without a heading that says who brought it.
        if (said.type === "tool.result") state.trace.heading = said.message;
        trace.step(state.trace, said, emit);
      });
      if (event.type === "turn.finished") {
        turn.finish(state.stream, (end) => trace.step(state.trace, end, emit));
        trace.finish(state.trace, emit);
      }
      beside(event, style, emit);
      followRetake(state, event);
      if (!state.isRetaken || state.openMessages.size > 0) return;
      state.isRetaken = false;
      emit(style.warn("  ! taken up again: the process that ran it was gone\n"));
    },
    finish() {},
  };
}

function followRetake(state: TranscriptState, event: AgentEvent): void {
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
    case "session.recovered":
      state.isRetaken = true;
      return;
    default:
      return;
  }
}

/** What happened around what the agent says. */
function beside(event: AgentEvent, style: Style, emit: Emit<string>): void {
  switch (event.type) {
    case "message.sent":
      return emit(sentText(event, style));
    case "tool.progressed":
      return emit(style.dim(`  … ${oneLine(event.text)}\n`));
    case "approval.requested": {
      const { action, input, approvalId } = event;
      const what = oneLine(input === null ? action : `${action} ${jsonText(input)}`);
      return emit(`${style.warn("  ?")} ${what} ${style.dim(oneLine(approvalId))}\n`);
    }
    case "approval.resolved":
      return emit(`${style.note("  =")} ${resolvedText(event)}\n`);
    case "plan.updated":
      return emit(planText(event, style));
    case "session.configured":
      return emit(style.dim(`  · the mode is ${event.mode} now\n`));
    case "call.lost":
      return emit(style.bad("  ! the connection to the agent was lost\n"));
    case "prompt.withdrawn":
      return emit(style.dim("  · a prompt that waited was withdrawn\n"));
    default:
      return;
  }
}

/** A line for each entry, with its status in a sign. */
function planText({ entries }: PlanUpdated, style: Style): string {
  const lines = entries.map(({ content, status }) => `  ${SIGNS[status]} ${oneLine(content)}\n`);
  return `${style.dim(entries.length === 0 ? "  no plan any more" : "  plan")}\n${lines.join("")}`;
}

const SIGNS: { readonly [Status in PlanStatus]: string } = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  blocked: "[!]",
  cancelled: "[-]",
};

function sentText({ origin, content }: MessageSent, style: Style): string {
  const who = {
    prompt: "user",
    instructions: "instructions",
    recovery: "spanline, after the loss",
    reprompt: "spanline",
  }[origin];
  const lines = content.flatMap((part) => printable(partText(part)).split("\n"));
  return `${style.strong(who)}\n${lines.map((line) => `  ${line}\n`).join("")}\n`;
}

function resolvedText({ decision, by, reason }: ApprovalResolved): string {
  return oneLine(`${decision}${BY[by]}${reason === undefined ? "" : `: ${reason}`}`);
}

const BY: { readonly [By in ApprovalResolved["by"]]: string } = {
  person: "",
  deadline: ", since nobody answered in time",
  cancel: ", by the end of the turn",
  change: ", since the rules, the mode or the tool changed",
};
