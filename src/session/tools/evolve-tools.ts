import type { AgentEvent } from "../../domain/agent-event.ts";
import { isSameGroup, type ToolRun, type ToolsState } from "./tools-state.ts";

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
        ...(problem !== undefined && { problem }),
      } as const;
      if (before) return changed(tools, toolCallId, called);
      return { ...tools, runs: [...tools.runs, { toolCallId, attempt: 0, ...called }] };
    }
    case "approval.requested": {
      const { about, approvalId, question } = event;
      if (question === "lost-call") return tools;
      const status = question === "run" ? "asking" : "unsettled";
      return changed(tools, about, { status, approvalId });
    }
    case "approval.resolved": {
      const { approvalId, decision, input } = event;
      const asked = tools.runs.find((run) => run.approvalId === approvalId);
      if (asked === undefined || (decision !== "allow" && decision !== "run-again")) return tools;
      return changed(tools, asked.toolCallId, { status: "granted", input: input ?? asked.input });
    }
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

function changed(tools: ToolsState, toolCallId: string, change: Partial<ToolRun>): ToolsState {
  const at = tools.runs.findLastIndex((run) => run.toolCallId === toolCallId);
  const run = tools.runs[at];
  return run === undefined ? tools : { ...tools, runs: tools.runs.with(at, { ...run, ...change }) };
}
