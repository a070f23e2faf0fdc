import type { SessionEvent } from "../../domain/events/session-event.ts";
import { isAboutToolCall } from "../../domain/policy/approval-decision.ts";
import { digestValue } from "../../platform/digest.ts";
import type { ToolRun, ToolsState } from "./tools-state.ts";

/**
 * Whether an event fits the tool call with its id in the log. Receipts are signed but the call is not, so a receipt for
 * another tool or other arguments reveals a changed log. `tools`: the state before the event.
 */
export function fitsToolCall(event: SessionEvent, tools: ToolsState): boolean {
  switch (event.type) {
    case "tool_call.opened":
      return findRuns(tools, event.toolCallId).length === 0;
    case "tool_call.received":
      // A call is received once, before it is evaluated.
      return findRuns(tools, event.toolCallId).every(({ toolCall }) => toolCall === null);
    case "policy.decided": {
      const { toolCallId, digest, decision } = event;
      return hasRun(tools, toolCallId, { tool: decision.context.tool, digest });
    }
    case "approval.requested": {
      // The tool call of a copied request is in the log of its worker.
      if (!isAboutToolCall(event.question) || event.worker !== undefined) return true;
      const { subjectId, decision, input } = event;
      const tool = decision?.context.tool;
      return (
        tool !== undefined && hasRun(tools, subjectId, { tool, digest: digestValue(input ?? {}) })
      );
    }
    case "tool.started": {
      const { toolCallId, digest } = event;
      const tool = findRuns(tools, toolCallId)[0]?.evaluation?.tool;
      return tool !== undefined && hasRun(tools, toolCallId, { tool, digest });
    }
    default:
      return true;
  }
}

interface ExpectedCall {
  readonly tool: string;
  /** Digest of the arguments. */
  readonly digest: string;
}

function hasRun(tools: ToolsState, toolCallId: string, { tool, digest }: ExpectedCall): boolean {
  const [run, ...others] = findRuns(tools, toolCallId);
  if (run === undefined || others.length > 0) return false;
  return run.name === tool && digestValue(run.input ?? {}) === digest;
}

function findRuns({ runs }: ToolsState, toolCallId: string): readonly ToolRun[] {
  return runs.filter((run) => run.toolCallId === toolCallId);
}
