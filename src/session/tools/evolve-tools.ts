import type { AgentEvent, ApprovalResolved } from "../../domain/agent-event.ts";
import { isYes } from "../../domain/answers.ts";
import { digestOf } from "../../platform/digest.ts";
import type { BoundAgent } from "../input.ts";
import { timesMade, withMade } from "./made-calls.ts";
import { rulesDigest } from "./policy-of.ts";
import { isOtherTool, toolDigest } from "./tool-digest.ts";
import { isOpen, isSameGroup, runOf, type ToolRun, type ToolsState } from "./tools-state.ts";

/** `agent` is the one that was bound before the event. */
export function evolveTools(
  tools: ToolsState,
  event: AgentEvent,
  agent: BoundAgent | null,
): ToolsState {
  switch (event.type) {
    case "agent.bound": {
      const { definition } = event;
      // The tool of an awaited call is absent for now. The call is repeated only if the tool comes back unchanged, and then
      // its paths are those of the attempt that is repeated.
      const isOther = ({ name, status }: ToolRun): boolean =>
        status !== "awaited" && isOtherTool(name, agent?.facts, definition);
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
      const { toolCallId, call, problem, executor } = event;
      const before = tools.runs.some((run) => run.toolCallId === toolCallId);
      const called = {
        name: call.name,
        status: executor === "prompter" ? "handed-out" : "called",
        call,
        input: call.input,
        ...(call.input !== null && { made: timesMade(tools.made, call.name, call.input) }),
        ...(problem !== undefined && { problem }),
      } as const;
      const isOurs = call.runBy === "client" && call.input !== null;
      const made = isOurs ? withMade(tools.made, call.name, call.input) : tools.made;
      if (before) return changed({ ...tools, made }, toolCallId, called);
      return { ...tools, made, runs: [...tools.runs, { toolCallId, attempt: 0, ...called }] };
    }
    case "tool.examined": {
      const { type: _, toolCallId, ...examined } = event;
      const { problem } = examined;
      return changed(tools, toolCallId, { examined, ...(problem !== undefined && { problem }) });
    }
    case "policy.decided": {
      const { toolCallId, agent, mode = "default", digest, decision } = event;
      const { action } = decision;
      const judged = { agent, mode, digest, action };
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
      // Running the tool again is a new effect: its paths are resolved again.
      const base = question === "run" ? run : unexamined(run);
      return replaced(tools, { ...base, status, approvalId, asked });
    }
    case "approval.resolved":
      if (event.by === "change") return askedInVain(tools, event);
      return isYes(event.decision) ? approved(tools, event, rulesDigest(agent?.facts)) : tools;
    case "approvals.doubted":
      return { ...tools, runs: tools.runs.map((run) => (isOpen(run) ? unjudged(run) : run)) };
    case "tool.started": {
      const { toolCallId, attempt, isRepeat } = event;
      const repeat = isRepeat === true ? { repeat: attempt } : {};
      return changed(tools, toolCallId, { status: "running", attempt, ...repeat });
    }
    case "tool.awaited": {
      const { type: _, toolCallId, ...awaited } = event;
      return changed(tools, toolCallId, { status: "awaited", awaited });
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
    case "plan.updated":
      return { ...tools, plan: event.entries };
    default:
      return tools;
  }
}

/** Other arguments are another call: it is looked at and judged anew. */
function approved(
  tools: ToolsState,
  { approvalId, input: given, principals }: ApprovalResolved,
  rules: string,
): ToolsState {
  const asked = tools.runs.find((run) => run.approvalId === approvalId);
  if (asked === undefined) return tools;
  const input = given ?? asked.input ?? {};
  const { tool = "", decision = "" } = asked.asked ?? {};
  const approvers = principals?.length ?? 1;
  // The receipt says what was judged, and so shown; what stands beside it in a log may have been changed.
  const shown = given === undefined ? asked.judged?.digest : undefined;
  const yes = { digest: shown ?? digestOf(input), tool, decision, rules, approvers };
  if (given === undefined) return replaced(tools, { ...asked, status: "granted", approved: yes });
  return replaced(tools, { ...unexamined(asked), status: "called", input, approved: yes });
}

/** What people were shown is not what holds now: it is as if nobody had been asked. */
function askedInVain(tools: ToolsState, { approvalId }: ApprovalResolved): ToolsState {
  const run = tools.runs.find((one) => one.approvalId === approvalId);
  if (run?.status !== "asking" && run?.status !== "unsettled") return tools;
  const { approvalId: _, asked: __, ...rest } = run;
  return replaced(tools, { ...rest, status: run.status === "asking" ? "called" : "running" });
}

/** As if nobody had looked at it, judged it or answered about it. */
function unjudged(run: ToolRun): ToolRun {
  const { judged: _, approved: __, ...rest } = unexamined(run);
  return rest;
}

function unexamined(run: ToolRun): ToolRun {
  const { examined: _, ...rest } = run;
  return rest;
}

function replaced(tools: ToolsState, run: ToolRun): ToolsState {
  const runs = tools.runs.map((one) => (one.toolCallId === run.toolCallId ? run : one));
  return { ...tools, runs };
}

function changed(tools: ToolsState, toolCallId: string, change: Partial<ToolRun>): ToolsState {
  const at = tools.runs.findLastIndex((run) => run.toolCallId === toolCallId);
  const run = tools.runs[at];
  return run === undefined ? tools : { ...tools, runs: tools.runs.with(at, { ...run, ...change }) };
}
