import type { ToolResult } from "../../domain/tool.ts";
import { userMessages, type ConverseContent, type ConverseMessage } from "../converse/request.ts";
import { resumeMessages, type ResumableTurn } from "../converse/resume.ts";
import { harnessCallId } from "./tool-ids.ts";

/** The two messages that answer a turn's open calls, with ids as Harness takes them, and any text after the results. */
export function harnessResume(
  turn: ResumableTurn,
  results: readonly ToolResult[],
  texts: readonly string[],
): ConverseMessage[] {
  const [assistant, user] = resumeMessages(turn, results);
  const said = texts.length === 0 ? [] : userMessages(...texts)[0].content;
  return [
    { role: "assistant", content: assistant.content.map(withHarnessId) },
    { role: "user", content: [...user.content.map(withHarnessId), ...said] },
  ];
}

function withHarnessId(block: ConverseContent): ConverseContent {
  if ("toolUse" in block) {
    const { toolUse } = block;
    return { toolUse: { ...toolUse, toolUseId: harnessCallId(toolUse.toolUseId) } };
  }
  if ("toolResult" in block) {
    const { toolResult } = block;
    return { toolResult: { ...toolResult, toolUseId: harnessCallId(toolResult.toolUseId) } };
  }
  return block;
}
