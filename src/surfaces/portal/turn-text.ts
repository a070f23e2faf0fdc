import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { toJsonText } from "../../data/json.ts";
import { addToReport, createReportState, type ReportState } from "./turn-report.ts";

/** State of a turn's text for a live reader. Belongs to a single prompt and is changed in place. */
export interface TextState {
  readonly report: ReportState;
  /** Characters written of each block, by message and block number. */
  readonly written: Map<string, number>;
  readonly notedApprovals: Set<string>;
  /** The message whose text was written last. */
  message: string | null;
  /** Number of line ends at the end of the text so far. Null if no text was written. */
  lineEnds: number | null;
}

export function createTextState(promptId: string): TextState {
  return {
    report: createReportState(promptId),
    written: new Map(),
    notedApprovals: new Set(),
    message: null,
    lineEnds: null,
  };
}

/**
 * Returns the text added by some events: the agent's text, with an empty line between messages, and notes in brackets
 * for approvals and early ends. An approval resolved within the same events is omitted.
 */
export function addToText(state: TextState, events: Iterable<SessionEvent>): string {
  const { report } = state;
  let text = "";
  for (const event of events) {
    if (report.end !== null) break;
    addToReport(report, event);
    text += writeEvent(state, event);
  }
  for (const approval of report.approvals.values()) {
    if (report.end !== null || state.notedApprovals.has(approval.approvalId)) continue;
    state.notedApprovals.add(approval.approvalId);
    text += writeNote(state, formatWaitingApproval(approval));
  }
  return report.end === null ? text : text + writeTurnEnd(state, report.end);
}

/** The last note for a reader disconnected before the end of the turn. */
export function writeDisconnectNote(state: TextState, why: string): string {
  return writeNote(state, why);
}

function writeEvent(state: TextState, event: SessionEvent): string {
  switch (event.type) {
    case "text.delta":
    case "text.finished": {
      const { messageId, block, text } = event;
      const isOurs = state.report.messages.has(messageId);
      const key = `${messageId} ${block}`;
      const before = state.written.get(key) ?? 0;
      const fresh = event.type === "text.delta" ? text : text.slice(before);
      if (!isOurs || fresh === "") return "";
      state.written.set(key, before + fresh.length);
      const gap = state.message === messageId ? "" : writeGap(state);
      state.message = messageId;
      return gap + write(state, fresh);
    }
    case "message.replaced": {
      if (!state.report.messages.has(event.messageId)) return "";
      const withdrawn = state.message === null ? "" : writeNote(state, "replaced by:");
      const gap = writeGap(state);
      state.message = event.messageId;
      return withdrawn + gap + write(state, event.text);
    }
    default:
      return "";
  }
}

function formatWaitingApproval({ action, input, form }: Omit<ApprovalRequested, "type">): string {
  if (form !== undefined) return `waiting for your answer: ${action} — answer in the browser`;
  const what = input === null ? action : `${action} ${toJsonText(input)}`;
  return `waiting for your approval: ${what} — answer in the browser`;
}

function writeTurnEnd(state: TextState, end: NonNullable<ReportState["end"]>): string {
  const { outcome, reason, failure } = end;
  const why = failure?.message ?? reason;
  if (outcome !== "completed" && outcome !== null) {
    return writeNote(state, why === null ? outcome : `${outcome}: ${why}`);
  }
  return state.lineEnds === 0 || state.lineEnds === null ? write(state, "\n") : "";
}

/** A note on its own line, with a line end, because some readers buffer a line. */
function writeNote(state: TextState, text: string): string {
  const gap = writeGap(state);
  state.message = null;
  return gap + write(state, `[${text}]\n`);
}

function writeGap(state: TextState): string {
  const { lineEnds } = state;
  return lineEnds === null ? "" : write(state, "\n".repeat(Math.max(0, 2 - lineEnds)));
}

function write(state: TextState, text: string): string {
  if (text === "") return text;
  const ends = text.length - text.replace(/\n+$/, "").length;
  state.lineEnds = ends === text.length ? (state.lineEnds ?? 0) + ends : ends;
  return text;
}
