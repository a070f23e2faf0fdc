import type { ToolEnding } from "../../domain/agent-event.ts";
import { toolError, toolSuccess } from "../../domain/tool.ts";
import type { Work } from "../work.ts";
import type { ToolRun } from "./tools-state.ts";

/** Ends a call that does not tell of its own end; `text` is for the model. */
export function finishTool(
  work: Work,
  { toolCallId, call }: ToolRun,
  { ending, text }: { readonly ending: ToolEnding; readonly text: string },
): void {
  const callId = call?.id ?? "";
  const result = ending === "succeeded" ? toolSuccess(callId, text) : toolError(callId, text);
  work.emit({ type: "tool.finished", toolCallId, ending, result });
}
