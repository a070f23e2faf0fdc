import type { AgentEvent, ApprovalResolved } from "../../domain/agent-event.ts";
import { isYes } from "../../domain/no-to.ts";
import type { ToolCall } from "../../domain/tool.ts";
import { digestOf } from "../../platform/digest.ts";
import type { BoundAgent } from "../input.ts";
import { callDigest } from "./call-digest.ts";
import { toolDigest } from "./tool-digest.ts";
import { isSameGroup, runOf, timesMade, type ToolRun, type ToolsState } from "./tools-state.ts";

/** `agent` is the one that was bound before the event. */
export function evolveTools(
  tools: ToolsState,
  event: AgentEvent,
  agent: BoundAgent | null,
): ToolsState {
  switch (event.type) {
    case "agent.bound": {
      const { definition } = event;
      const isOther = ({ name }: ToolRun): boolean =>
        toolDigest(agent?.facts, name) !== toolDigest(definition, name);
      return { ...tools, runs: tools.runs.map((run) => (isOther(run) ? unexamined(run) : run)) };
    }
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
      // One that is running goes on, or is started again by its own event.
      const isGranted = action === "allow" && runOf(tools, toolCallId)?.status !== "running";
      return changed(tools, toolCallId, { judged, ...(isGranted && { status: "granted" }) });
    }
    case "approval.requested": {
      const { about, approvalId, question, decision } = event;
      const run = runOf(tools, about);
      if (question === "lost-call" || run === undefined) return tools;
      const status = question === "run" ? "asking" : "unsettled";
      const tool = toolDigest(agent?.facts, run.name);
      const asked = { tool, decision: digestOf(decision ?? null) };
      return changed(tools, about, { status, approvalId, asked });
    }
    case "approval.resolved":
      if (event.by === "change") return askedInVain(tools, event);
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
  const tool = asked.asked?.tool ?? "";
  const yes = { digest: digestOf(input), tool, approvers: principals?.length ?? 1 };
  if (given === undefined) return replaced(tools, { ...asked, status: "granted", approved: yes });
  return replaced(tools, { ...unexamined(asked), status: "called", input, approved: yes });
}

/** What people were shown is not what holds now: it is as if nobody had been asked. */
function askedInVain(tools: ToolsState, { approvalId }: ApprovalResolved): ToolsState {
  const run = tools.runs.find((one) => one.approvalId === approvalId);
  if (run?.status !== "asking") return tools;
  const { approvalId: _, asked: __, ...rest } = run;
  return replaced(tools, { ...rest, status: "called" });
}

function unexamined(run: ToolRun): ToolRun {
  const { examined: _, ...rest } = run;
  return rest;
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
