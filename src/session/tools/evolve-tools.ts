import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { ApprovalRequested, ApprovalResolved } from "../../domain/events/approval-events.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ToolCallReceived } from "../../domain/events/tool-events.ts";
import { isApproving, isAboutToolCall } from "../../domain/policy/approval-decision.ts";
import { digestValue } from "../../platform/digest.ts";
import type { ConfiguredAgent } from "../session-input.ts";
import { countRepeats, countToolCall } from "./tool-call-counts.ts";
import { digestRules } from "./resolve-policy.ts";
import { isToolReplaced, digestTool } from "./tool-digest.ts";
import { isOpen, isSameGroup, findRun, type ToolRun, type ToolsState } from "./tools-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** `agent`: the definition before the event. */
export function evolveTools(
  tools: ToolsState,
  event: SessionEvent,
  agent: ConfiguredAgent | null,
): ToolsState {
  switch (event.type) {
    case "agent.configured":
      return replaceAgent(tools, agent?.spec, event.spec);
    case "session.recovered":
      // Leftover processes were terminated before this event.
      return { ...tools, processes: [] };
    case "turn.started":
      return { ...tools, runs: [] };
    case "tool_call.opened": {
      const { toolCallId, name } = event;
      const opened = { toolCallId, name, status: "opened", toolCall: null, input: null } as const;
      return { ...tools, runs: [...tools.runs, { ...opened, attempt: 0 }] };
    }
    case "tool_call.received":
      return receiveToolCall(tools, event);
    case "tool_call.paths_resolved": {
      const { type: _, toolCallId, ...resolvedPaths } = event;
      const { problem } = resolvedPaths;
      return changeRun(tools, toolCallId, {
        resolvedPaths,
        ...omitUndefined({ problem }),
      });
    }
    case "policy.decided": {
      const { toolCallId, agent, mode = "default", digest, decision } = event;
      const { action, context } = decision;
      const evaluation = { tool: context.tool, agent, mode, digest, action };
      // A running tool stays `running`, or is started again by `tool.started`.
      const isGranted = action === "allow" && findRun(tools, toolCallId)?.status !== "running";
      return changeRun(tools, toolCallId, { evaluation, ...(isGranted && { status: "approved" }) });
    }
    case "approval.requested":
      return requestApproval(tools, event, agent?.spec);
    case "approval.resolved":
      if (event.resolvedBy === "change") return withdrawRequest(tools, event);
      return isApproving(event.decision)
        ? applyApproval(tools, event, digestRules(agent?.spec))
        : tools;
    case "approvals.invalidated":
      return {
        ...tools,
        runs: tools.runs.map((run) => (isOpen(run) ? clearEvaluation(run) : run)),
      };
    case "tool.started": {
      const { toolCallId, attempt, isRepeat } = event;
      const repeat = isRepeat === true ? { repeatAttempt: attempt } : {};
      return changeRun(tools, toolCallId, { status: "running", attempt, ...repeat });
    }
    case "tool.waiting_for_host": {
      const { type: _, toolCallId, ...hostWait } = event;
      return changeRun(tools, toolCallId, { status: "waiting-for-host", hostWait });
    }
    case "tool.process_started": {
      const { toolCallId, group } = event;
      return { ...tools, processes: [...tools.processes, { toolCallId, group }] };
    }
    case "tool.process_exited": {
      const processes = tools.processes.filter(({ group }) => !isSameGroup(group, event.group));
      return { ...tools, processes };
    }
    case "tool.finished": {
      const { toolCallId, ending, result, durationMs } = event;
      const finished = changeRun(tools, toolCallId, { status: "finished", ending, result });
      // A tool with a duration ended by itself, after its processes.
      if (durationMs === undefined) return finished;
      const programs = tools.processes.filter((program) => program.toolCallId !== toolCallId);
      return { ...finished, processes: programs };
    }
    case "plan.updated":
      return { ...tools, plan: event.entries, planDetails: event.plan ?? null };
    default:
      return tools;
  }
}

/** Clears the resolved paths of calls whose tool is replaced by a new definition of the agent. */
function replaceAgent(
  tools: ToolsState,
  previous: AgentSpec | undefined,
  spec: AgentSpec,
): ToolsState {
  // The tool of a waiting call is absent for now. The call is repeated only if the tool returns unchanged, so its
  // resolved paths stay valid.
  const isReplaced = ({ name, status }: ToolRun): boolean =>
    status !== "waiting-for-host" && isToolReplaced(name, previous, spec);
  return {
    ...tools,
    runs: tools.runs.map((run) => (isReplaced(run) ? clearResolvedPaths(run) : run)),
  };
}

function receiveToolCall(
  tools: ToolsState,
  { toolCallId, toolCall, problem, executor }: ToolCallReceived,
): ToolsState {
  const { name, input } = toolCall;
  const isOpened = tools.runs.some((run) => run.toolCallId === toolCallId);
  const called = {
    name,
    status: executor === "prompter" ? "handed-out" : "received",
    toolCall,
    input,
    ...(input !== null && { repeatCount: countRepeats(tools.callCounts, name, input) }),
    ...omitUndefined({ problem }),
  } as const;
  const isOurs = toolCall.runBy === "client" && input !== null;
  const callCounts = isOurs ? countToolCall(tools.callCounts, name, input) : tools.callCounts;
  if (isOpened) return changeRun({ ...tools, callCounts }, toolCallId, called);
  return { ...tools, callCounts, runs: [...tools.runs, { toolCallId, attempt: 0, ...called }] };
}

function requestApproval(
  tools: ToolsState,
  { subjectId, approvalId, question, decision }: ApprovalRequested,
  spec: AgentSpec | undefined,
): ToolsState {
  const run = findRun(tools, subjectId);
  if (!isAboutToolCall(question) || run === undefined) return tools;
  const status = question === "outcome" ? "outcome-requested" : "approval-requested";
  // The signed decision names the tool shown to people; the unsigned name of the call may have been changed in the
  // log.
  const toolDigest = digestTool(spec, decision?.context.tool ?? run.name);
  const shownRequest = { toolDigest, decisionDigest: digestValue(decision ?? null) };
  // Running the tool again is a new effect, so its paths are resolved again.
  const base = question === "outcome" ? clearResolvedPaths(run) : run;
  return replaceRun(tools, { ...base, status, approvalId, shownRequest });
}

/** Applies an approval. Edited arguments make it another call, which is resolved and evaluated again. */
function applyApproval(
  tools: ToolsState,
  { approvalId, input: editedInput, principals }: ApprovalResolved,
  rules: string,
): ToolsState {
  const requestedRun = tools.runs.find((run) => run.approvalId === approvalId);
  if (requestedRun === undefined) return tools;
  const input = editedInput ?? requestedRun.input ?? {};
  const { toolDigest: tool = "", decisionDigest = "" } = requestedRun.shownRequest ?? {};
  const approvers = principals?.length ?? 1;
  // The receipt has the digest of the evaluated arguments; the unsigned events of a log may have been changed.
  const shownDigest = editedInput === undefined ? requestedRun.evaluation?.digest : undefined;
  const approval = {
    digest: shownDigest ?? digestValue(input),
    toolDigest: tool,
    decisionDigest,
    rulesDigest: rules,
    approvers,
  };
  if (editedInput === undefined)
    return replaceRun(tools, { ...requestedRun, status: "approved", approval });
  return replaceRun(tools, {
    ...clearResolvedPaths(requestedRun),
    status: "received",
    input,
    approval,
  });
}

/** Withdraws a request whose content no longer applies, as if it had never been made. */
function withdrawRequest(tools: ToolsState, { approvalId }: ApprovalResolved): ToolsState {
  const run = tools.runs.find((candidate) => candidate.approvalId === approvalId);
  if (run?.status !== "approval-requested" && run?.status !== "outcome-requested") return tools;
  const { approvalId: _, shownRequest: __, ...rest } = run;
  return replaceRun(tools, {
    ...rest,
    status: run.status === "approval-requested" ? "received" : "running",
  });
}

/** Removes the resolved paths, the evaluation and the approval of a call. */
function clearEvaluation(run: ToolRun): ToolRun {
  const { evaluation: _, approval: __, ...rest } = clearResolvedPaths(run);
  return rest;
}

function clearResolvedPaths(run: ToolRun): ToolRun {
  const { resolvedPaths: _, ...rest } = run;
  return rest;
}

function replaceRun(tools: ToolsState, run: ToolRun): ToolsState {
  const runs = tools.runs.map((existing) =>
    existing.toolCallId === run.toolCallId ? run : existing,
  );
  return { ...tools, runs };
}

function changeRun(tools: ToolsState, toolCallId: string, change: Partial<ToolRun>): ToolsState {
  const at = tools.runs.findLastIndex((run) => run.toolCallId === toolCallId);
  const run = tools.runs[at];
  return run === undefined ? tools : { ...tools, runs: tools.runs.with(at, { ...run, ...change }) };
}
