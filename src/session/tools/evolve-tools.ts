import type { AgentEvent, ApprovalResolved } from "../../domain/agent-event.ts";
import { isYes } from "../../domain/no-to.ts";
import type { ToolCall } from "../../domain/tool.ts";
import { digestOf } from "../../platform/digest.ts";
import { callDigest } from "./call-digest.ts";
import { isSameGroup, timesMade, type ToolRun, type ToolsState } from "./tools-state.ts";

export function evolveTools(tools: ToolsState, event: AgentEvent): ToolsState {
  switch (event.type) {
    case "session.recovered":
      // What was left running was ended before.
      return { ...tools, programs: [] };
    case "turn.started":
      return { ...tools, runs: [] };
    case "tool.announced": {
      const { toolCallId, name } = event;
      const announced = { toolCallId, name, status: "announced", call: null, input: null } as const;
      return { ...tools, runs: [...tools.runs, { ...announced, attempt: 0 }] };
    }
    case "tool.called": {
      const { toolCallId, call, problem } = event;
      const before = tools.runs.some((run) => run.toolCallId === toolCallId);
      const called = {
        name: call.name,
        status: "called",
        call,
        input: call.input,
        ...(call.input !== null && { repeats: timesMade(tools, call.name, call.input) }),
        ...(problem !== undefined && { problem }),
      } as const;
      const made = withMade(tools, call);
      if (before) return changed({ ...tools, made }, toolCallId, called);
      return { ...tools, made, runs: [...tools.runs, { toolCallId, attempt: 0, ...called }] };
    }
    case "tool.examined": {
      const { type: _, toolCallId, ...examined } = event;
      const { problem } = examined;
      return changed(tools, toolCallId, { examined, ...(problem !== undefined && { problem }) });
    }
    case "policy.decided": {
      const { toolCallId, agent, digest, decision } = event;
      const { action } = decision;
      const judged = { agent, digest, action };
      return changed(tools, toolCallId, {
        judged,
        ...(action === "allow" && { status: "granted" }),
      });
    }
    case "approval.requested": {
      const { about, approvalId, question } = event;
      if (question === "lost-call") return tools;
      const status = question === "run" ? "asking" : "unsettled";
      return changed(tools, about, { status, approvalId });
    }
    case "approval.resolved":
      return isYes(event.decision) ? approved(tools, event) : tools;
    case "tool.started": {
      const { toolCallId, attempt } = event;
      return changed(tools, toolCallId, { status: "running", attempt });
    }
    case "tool.spawned": {
      const { toolCallId, group } = event;
      return { ...tools, programs: [...tools.programs, { toolCallId, group }] };
    }
    case "tool.program.ended": {
      const programs = tools.programs.filter(({ group }) => !isSameGroup(group, event.group));
      return { ...tools, programs };
    }
    case "tool.finished": {
      const { toolCallId, ending, result, durationMs } = event;
      const finished = changed(tools, toolCallId, { status: "finished", ending, result });
      // A tool that told of its end itself has ended its programs before.
      if (durationMs === undefined) return finished;
      const programs = tools.programs.filter((program) => program.toolCallId !== toolCallId);
      return { ...finished, programs };
    }
    default:
      return tools;
  }
}

/** Other arguments are another call: it is looked at and judged anew. */
function approved(
  tools: ToolsState,
  { approvalId, input: given, principals }: ApprovalResolved,
): ToolsState {
  const asked = tools.runs.find((run) => run.approvalId === approvalId);
  if (asked === undefined) return tools;
  const input = given ?? asked.input ?? {};
  const yes = { digest: digestOf(input), approvers: principals?.length ?? 1 };
  if (given === undefined) return replaced(tools, { ...asked, status: "granted", approved: yes });
  const { examined: _, ...run } = asked;
  return replaced(tools, { ...run, status: "called", input, approved: yes });
}

/** Of calls that nobody remembers, the first is the first again. */
function withMade(tools: ToolsState, call: ToolCall): ToolsState["made"] {
  if (call.runBy !== "client" || call.input === null) return tools.made;
  const digest = callDigest(call.name, call.input);
  const count = timesMade(tools, call.name, call.input) + 1;
  const others = tools.made.filter((one) => one.digest !== digest);
  return [...others, { digest, count }].slice(-MOST_REMEMBERED);
}

const MOST_REMEMBERED = 256;

function replaced(tools: ToolsState, run: ToolRun): ToolsState {
  const runs = tools.runs.map((one) => (one.toolCallId === run.toolCallId ? run : one));
  return { ...tools, runs };
}

function changed(tools: ToolsState, toolCallId: string, change: Partial<ToolRun>): ToolsState {
  const at = tools.runs.findLastIndex((run) => run.toolCallId === toolCallId);
  const run = tools.runs[at];
  return run === undefined ? tools : { ...tools, runs: tools.runs.with(at, { ...run, ...change }) };
}
