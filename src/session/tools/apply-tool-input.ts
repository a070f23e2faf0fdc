import { createToolError } from "../../domain/tools/tool-call.ts";
import type { TimedInput } from "../session-input.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { requestOutcome } from "./advance-tools.ts";
import { findPathsToResolve } from "./evaluate-tool-call.ts";
import { completeResolvedPaths } from "./tool-call-paths.ts";
import { updatePlan } from "./agent-plan.ts";
import { applyEmission } from "./apply-emission.ts";
import { findEmissionProblem } from "./emission-limits.ts";
import {
  isRepeat,
  isSameGroup,
  isEvaluable,
  findRunningAttempt,
  findRun,
  type ToolRun,
} from "./tools-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

type ToolInput<Type extends TimedInput["type"]> = Extract<TimedInput, { readonly type: Type }>;

/** Records progress or a process of a running tool. Ignored if the attempt is over. */
export function applyToolUpdate(
  decision: Decision,
  input: ToolInput<"process-started"> | ToolInput<"tool-progress">,
): void {
  const { toolCallId, attempt } = input;
  if (findRunningAttempt(decision.state.tools, input) === undefined) return;
  if (input.type === "process-started") {
    decision.emit({ type: "tool.process_started", toolCallId, attempt, group: input.group });
  } else {
    const { text, amount } = input;
    decision.emit({
      type: "tool.progress",
      toolCallId,
      text,
      ...omitUndefined({ amount }),
    });
  }
}

/**
 * Records the resolved paths of a tool call. Ignored if they are for another agent definition or other arguments, or if
 * they are already known.
 */
export function applyResolvedPaths(decision: Decision, input: ToolInput<"paths-resolved">): void {
  const { type: _, at: __, seed: ___, agent, ...resolved } = input;
  if (agent !== decision.state.agent?.digest) return;
  const run = findRun(decision.state.tools, resolved.toolCallId);
  if (run === undefined || !isEvaluable(run)) return;
  const requested = findPathsToResolve(run, readAgentSpec(decision));
  if (requested?.digest !== resolved.digest) return;
  const paths = completeResolvedPaths(resolved.paths, requested.callFacts);
  decision.emit({ type: "tool_call.paths_resolved", ...resolved, paths });
}

export function applyToolEnd(decision: Decision, input: ToolInput<"tool-finished">): void {
  const run = findRunningAttempt(decision.state.tools, input);
  if (run === undefined) return;
  const { toolCallId, ending, result, durationMs, blobId, blobDigest, attachments, plan } = input;
  const { emissions = [] } = input;
  // The host could not determine the outcome either.
  if (ending === "unknown" && isRepeat(run)) return requestOutcome(decision, run);
  const problem = findEmissionProblem(decision.state, emissions);
  if (problem !== undefined) return refuseEmissions(decision, run, { problem, durationMs });
  decision.emit({
    type: "tool.finished",
    toolCallId,
    ending,
    result,
    durationMs,
    ...omitUndefined({ blobId, blobDigest, attachments }),
  });
  if (plan !== undefined) updatePlan(decision, plan);
  for (const emission of emissions) applyEmission(decision, emission);
}

/** Fails a tool call whose emissions have no room in the session. Nothing is emitted. */
function refuseEmissions(
  decision: Decision,
  { toolCallId, toolCall, name }: ToolRun,
  { problem, durationMs }: { readonly problem: string; readonly durationMs: number },
): void {
  const result = createToolError(toolCall?.id ?? "", `${name} failed: ${problem}`);
  decision.emit({ type: "tool.finished", toolCallId, ending: "failed", result, durationMs });
}

/**
 * Records the exit of a process. Also after its tool has finished: the end of a tool is logged before its processes are
 * terminated.
 */
export function applyProcessExit(
  decision: Decision,
  { toolCallId, group }: ToolInput<"process-exited">,
): void {
  if (!decision.state.tools.processes.some((program) => isSameGroup(program.group, group))) return;
  decision.emit({ type: "tool.process_exited", toolCallId, group });
}
