import { omitUndefined } from "../../data/omit-undefined.ts";
import type { CommandReply, SessionCommand, ToolCallStatus } from "../../domain/session-command.ts";
import { cutText } from "../../text/cut-text.ts";
import { resolveWithoutDecision } from "../approvals/approval-requests.ts";
import { dropHostRequests } from "../clients/host-requests.ts";
import type { Decision } from "../decision.ts";
import { finishTool, formatNotRun } from "../tools/finish-tool.ts";
import { findRun, isHandedOut, isOpen, type ToolRun } from "../tools/tools-state.ts";

type CancelToolCall = Extract<SessionCommand, { readonly type: "cancel-tool-call" }>;

/**
 * Cancels a single tool call of the running turn. The turn continues: the model receives an error result. A running tool
 * is stopped, because its effect is no longer due. Calls which the prompter runs are not found here, since only the
 * prompter can stop them.
 */
export function cancelToolCall(
  decision: Decision,
  { toolCallId, reason }: CancelToolCall,
): CommandReply {
  const run = findRun(decision.state.tools, toolCallId);
  if (run?.ending === "cancelled") return accept("already_cancelled", run);
  const isRunningTools = decision.state.turn.current?.stage.type === "running-tools";
  if (run === undefined || !isRunningTools || !isOpen(run) || isHandedOut(run))
    return accept("not_found", run);
  const request = decision.state.approvals.pending.find(
    ({ approvalId }) => approvalId === run.approvalId,
  );
  if (request !== undefined) resolveWithoutDecision(decision, request, "cancel");
  const why = reason === undefined ? "" : ` The reason given: ${cutText(reason, MAX_REASON)}`;
  const text =
    run.attempt === 0
      ? `${formatNotRun(run)}: a person cancelled this tool call.${why}`
      : `${run.name} was stopped: a person cancelled this tool call. Its effects so far are unknown.${why}`;
  finishTool(decision, run, { ending: "cancelled", text });
  dropHostRequests(decision, (host) => host.toolCallId === toolCallId);
  return accept("cancelled", run);
}

const MAX_REASON = 2000;

function accept(toolCallStatus: ToolCallStatus, run: ToolRun | undefined): CommandReply {
  return { status: "accepted", toolCallStatus, ...omitUndefined({ toolName: run?.name }) };
}
