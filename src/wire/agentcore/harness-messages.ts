import { plainName } from "../../domain/call-names.ts";
import { imageNote } from "../../domain/image-block.ts";
import type { ModelBlock, ModelMessage } from "../../domain/model-request.ts";
import { settledMessages } from "../../domain/settled-messages.ts";
import type { ToolResult } from "../../domain/tool.ts";
import { userMessages, type ConverseContent, type ConverseMessage } from "../converse/request.ts";
import {
  reasoning,
  resultContent,
  resumeMessages,
  toolUse,
  type ResumableTurn,
} from "../converse/resume.ts";
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

/**
 * A conversation that began elsewhere, as messages that Harness takes before a new one. What it would refuse is left out or
 * written otherwise: calls without results, reasoning without the seal of its model, names that no tool here can have.
 */
export function harnessHistory(history: readonly ModelMessage[]): ConverseMessage[] {
  const kept = history.map(({ role, blocks }) => ({ role, blocks: blocks.filter(isTaken) }));
  return settledMessages(kept).map(({ role, blocks }) => ({
    role,
    content: blocks.flatMap(earlierContent).map(withHarnessId),
  }));
}

/** One list of messages, in which roles alternate. */
export function joinedMessages(
  earlier: readonly ConverseMessage[],
  [next, ...rest]: readonly ConverseMessage[],
): ConverseMessage[] {
  const last = earlier.at(-1);
  if (next === undefined) return [...earlier];
  if (last?.role !== next.role) return [...earlier, next, ...rest];
  const { role } = next;
  return [...earlier.slice(0, -1), { role, content: [...last.content, ...next.content] }, ...rest];
}

function isTaken(block: ModelBlock): boolean {
  if (block.type !== "reasoning") return true;
  return block.signature !== undefined || block.redacted !== undefined;
}

function earlierContent(block: ModelBlock): ConverseContent[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text.toWellFormed() }];
    case "reasoning":
      return reasoning(block);
    case "call":
      return [toolUse({ ...block.call, name: plainName(block.call.name) })];
    case "result":
      return [resultContent(block.result)];
    case "image":
      return [{ text: imageNote(block) }];
    default:
      return block satisfies never;
  }
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
