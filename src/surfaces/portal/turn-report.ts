import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ToolEnding } from "../../domain/events/tool-events.ts";
import type { TurnOutcome } from "../../domain/events/turn-events.ts";
import type { Failure } from "../../domain/errors.ts";
import type { JsonObject } from "../../data/json.ts";
import type { ToolResultPart } from "../../domain/tools/tool-call.ts";
import type { Usage } from "../../domain/usage.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The result of a turn, for a caller with a single request. */
export interface TurnReport {
  readonly turnId: string | null;
  /** Null while the turn runs or the prompt is queued. */
  readonly outcome: TurnOutcome | "withdrawn" | null;
  readonly reason: string | null;
  /** The agent's text; messages are separated by an empty line. */
  readonly text: string;
  readonly toolCalls: readonly ReportedCall[];
  /** Approvals the turn waits for. */
  readonly pendingApprovals: readonly Omit<ApprovalRequested, "type">[];
  readonly usage: Usage | null;
  readonly failure?: Failure;
}

export interface ReportedCall {
  readonly toolCallId: string;
  readonly name: string;
  readonly input: JsonObject | null;
  /** Null while the tool call runs. */
  readonly ending: ToolEnding | null;
  readonly result: readonly ToolResultPart[];
}

/** State of the report for a prompt, changed in place. */
export interface ReportState {
  readonly promptId: string;
  turnId: string | null;
  end: Pick<TurnReport, "outcome" | "reason" | "usage" | "failure"> | null;
  /** The text of each block of the agent's messages, by message id and block number. */
  readonly messages: Map<string, Map<number, string>>;
  readonly calls: Map<string, ReportedCall>;
  readonly approvals: Map<string, Omit<ApprovalRequested, "type">>;
}

export function createReportState(promptId: string): ReportState {
  return {
    promptId,
    turnId: null,
    end: null,
    messages: new Map(),
    calls: new Map(),
    approvals: new Map(),
  };
}

/** Turns of a session are serial: all events between the turn's start and its end belong to the turn. */
export function addToReport(state: ReportState, event: SessionEvent): void {
  if (state.end !== null) return;
  if (state.turnId !== null) addTurnEvent(state, event);
  else if (event.type === "turn.started" && event.promptId === state.promptId) {
    state.turnId = event.turnId;
  } else if (event.type === "prompt.withdrawn" && event.promptId === state.promptId) {
    state.end = { outcome: "withdrawn", reason: event.reason, usage: null };
  }
}

export function createReport(state: ReportState): TurnReport {
  const texts = [...state.messages.values()].map((blocks) => [...blocks.values()].join(""));
  return {
    turnId: state.turnId,
    text: texts.filter((text) => text !== "").join("\n\n"),
    toolCalls: [...state.calls.values()],
    pendingApprovals: [...state.approvals.values()],
    ...(state.end ?? { outcome: null, reason: null, usage: null }),
  };
}

function addTurnEvent(state: ReportState, event: SessionEvent): void {
  switch (event.type) {
    case "message.started":
      if (event.role === "assistant") state.messages.set(event.messageId, new Map());
      return;
    case "text.delta": {
      const blocks = state.messages.get(event.messageId);
      blocks?.set(event.block, (blocks.get(event.block) ?? "") + event.text);
      return;
    }
    case "text.finished":
      state.messages.get(event.messageId)?.set(event.block, event.text);
      return;
    case "message.replaced":
      state.messages.set(event.messageId, new Map([[0, event.text]]));
      return;
    case "tool_call.received": {
      const { toolCallId, toolCall } = event;
      const { name, input } = toolCall;
      state.calls.set(toolCallId, { toolCallId, name, input, ending: null, result: [] });
      return;
    }
    case "tool.finished": {
      const { toolCallId, ending, result } = event;
      const call = state.calls.get(toolCallId);
      if (call !== undefined)
        state.calls.set(toolCallId, { ...call, ending, result: result.parts });
      return;
    }
    case "approval.requested": {
      const { type: _, ...approval } = event;
      state.approvals.set(event.approvalId, approval);
      return;
    }
    case "approval.resolved":
      state.approvals.delete(event.approvalId);
      return;
    case "turn.finished": {
      if (event.turnId !== state.turnId) return;
      const { outcome, reason, usage, failure } = event;
      state.end = { outcome, reason, usage, ...omitUndefined({ failure }) };
      return;
    }
    default:
  }
}
