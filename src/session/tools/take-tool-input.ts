import type { Input } from "../input.ts";
import type { Work } from "../work.ts";
import { runOf, type ToolRun } from "./tools-state.ts";

type Of<Type extends Input["type"]> = Extract<Input, { readonly type: Type }>;

/** What a running tool tells. Of an attempt that is over nothing is wanted. */
export function takeToolNews(work: Work, input: Of<"tool-spawned"> | Of<"tool-progressed">): void {
  const { toolCallId, attempt } = input;
  if (runningAttempt(work, input) === undefined) return;
  if (input.type === "tool-spawned") {
    work.emit({ type: "tool.spawned", toolCallId, attempt, group: input.group });
  } else {
    work.emit({ type: "tool.progressed", toolCallId, text: input.text });
  }
}

export function takeToolEnd(work: Work, input: Of<"tool-ended">): void {
  if (runningAttempt(work, input) === undefined) return;
  const { toolCallId, ending, result, durationMs, blobId } = input;
  work.emit({
    type: "tool.finished",
    toolCallId,
    ending,
    result,
    durationMs,
    ...(blobId !== undefined && { blobId }),
  });
}

function runningAttempt(
  work: Work,
  { toolCallId, attempt }: { readonly toolCallId: string; readonly attempt: number },
): ToolRun | undefined {
  const run = runOf(work.state.tools, toolCallId);
  return run?.status === "running" && run.attempt === attempt ? run : undefined;
}
