import type { Input } from "../input.ts";
import { agentOf, type Work } from "../work.ts";
import { askWhatCame } from "./advance-tools.ts";
import { toExamine } from "./judge-call.ts";
import { allPaths } from "./path-facts.ts";
import { planned } from "./plan.ts";
import { isRepeat, isSameGroup, isToJudge, runningAttempt, runOf } from "./tools-state.ts";

type Of<Type extends Input["type"]> = Extract<Input, { readonly type: Type }>;

/** What a running tool tells. Of an attempt that is over nothing is wanted. */
export function takeToolNews(work: Work, input: Of<"tool-spawned"> | Of<"tool-progressed">): void {
  const { toolCallId, attempt } = input;
  if (runningAttempt(work.state.tools, input) === undefined) return;
  if (input.type === "tool-spawned") {
    work.emit({ type: "tool.spawned", toolCallId, attempt, group: input.group });
  } else {
    const { text, amount } = input;
    work.emit({
      type: "tool.progressed",
      toolCallId,
      text,
      ...(amount !== undefined && { amount }),
    });
  }
}

/** By another definition, of arguments that the call does not have any more, or where all is known: nothing is wanted. */
export function takeExamination(work: Work, input: Of<"tool-examined">): void {
  const { type: _, at: __, seed: ___, agent, ...found } = input;
  if (agent !== work.state.agent?.digest) return;
  const run = runOf(work.state.tools, found.toolCallId);
  if (run === undefined || !isToJudge(run)) return;
  const wanted = toExamine(run, agentOf(work));
  if (wanted?.digest !== found.digest) return;
  const paths = allPaths(found.paths, wanted.facts);
  work.emit({ type: "tool.examined", ...found, paths });
}

export function takeToolEnd(work: Work, input: Of<"tool-ended">): void {
  const run = runningAttempt(work.state.tools, input);
  if (run === undefined) return;
  const { toolCallId, ending, result, durationMs, blobId, blobDigest, beside, plan } = input;
  // Whoever was to say what came of it does not know either.
  if (ending === "unknown" && isRepeat(run)) return askWhatCame(work, run);
  work.emit({
    type: "tool.finished",
    toolCallId,
    ending,
    result,
    durationMs,
    ...(blobId !== undefined && { blobId }),
    ...(blobDigest !== undefined && { blobDigest }),
    ...(beside !== undefined && { beside }),
  });
  if (plan !== undefined) planned(work, plan);
}

/** Also of a tool that is over: it is in the log before its programs are ended. */
export function takeProgramEnd(work: Work, { toolCallId, group }: Of<"program-ended">): void {
  if (!work.state.tools.programs.some((program) => isSameGroup(program.group, group))) return;
  work.emit({ type: "tool.program.ended", toolCallId, group });
}
