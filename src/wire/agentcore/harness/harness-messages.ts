import { toToolName } from "../../../domain/model/tool-call-names.ts";
import { formatImageNote } from "../../../domain/model/image-block.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import { normalizeHistory } from "../../../domain/model/normalize-history.ts";
import type { ToolResult } from "../../../domain/tools/tool-call.ts";
import {
  createUserMessages,
  type ConverseContent,
  type ConverseMessage,
} from "../../converse/request.ts";
import {
  encodeReasoning,
  encodeToolResult,
  createResumeMessages,
  encodeToolUse,
  type ResumableTurn,
} from "../../converse/resume.ts";
import { toHarnessToolCallId } from "./harness-tool-call-id.ts";

/** The two messages that answer a turn's open calls, with ids as Harness takes them, and any text after the results. */
export function encodeHarnessResume(
  turn: ResumableTurn,
  results: readonly ToolResult[],
  texts: readonly string[],
): ConverseMessage[] {
  const [assistant, user] = createResumeMessages(turn, results);
  const textContent = texts.length === 0 ? [] : createUserMessages(...texts)[0].content;
  return [
    { role: "assistant", content: assistant.content.map(applyHarnessCallId) },
    { role: "user", content: [...user.content.map(applyHarnessCallId), ...textContent] },
  ];
}

/**
 * A conversation that began elsewhere, as messages that Harness takes before a new one. What it would refuse is left out or
 * written otherwise: calls without results, reasoning without the seal of its model, names that no tool here can have.
 */
export function encodeHarnessHistory(history: readonly ModelMessage[]): ConverseMessage[] {
  const supportedMessages = history.map(({ role, blocks }) => ({
    role,
    blocks: blocks.filter(isSupportedBlock),
  }));
  return normalizeHistory(supportedMessages).map(({ role, blocks }) => ({
    role,
    content: blocks.flatMap(encodeHistoryBlock).map(applyHarnessCallId),
  }));
}

/** One list of messages, in which roles alternate. */
export function joinMessages(
  earlier: readonly ConverseMessage[],
  [next, ...rest]: readonly ConverseMessage[],
): ConverseMessage[] {
  const last = earlier.at(-1);
  if (next === undefined) return [...earlier];
  if (last?.role !== next.role) return [...earlier, next, ...rest];
  const { role } = next;
  return [...earlier.slice(0, -1), { role, content: [...last.content, ...next.content] }, ...rest];
}

function isSupportedBlock(block: ModelBlock): boolean {
  if (block.type !== "reasoning") return true;
  return block.signature !== undefined || block.redacted !== undefined;
}

function encodeHistoryBlock(block: ModelBlock): ConverseContent[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text.toWellFormed() }];
    case "reasoning":
      return encodeReasoning(block);
    case "tool-call":
      return [encodeToolUse({ ...block.toolCall, name: toToolName(block.toolCall.name) })];
    case "tool-result":
      return [encodeToolResult(block.result)];
    case "image":
      return [{ text: formatImageNote(block) }];
    default:
      return block satisfies never;
  }
}

function applyHarnessCallId(block: ConverseContent): ConverseContent {
  if ("toolUse" in block) {
    const { toolUse } = block;
    return { toolUse: { ...toolUse, toolUseId: toHarnessToolCallId(toolUse.toolUseId) } };
  }
  if ("toolResult" in block) {
    const { toolResult } = block;
    return { toolResult: { ...toolResult, toolUseId: toHarnessToolCallId(toolResult.toolUseId) } };
  }
  return block;
}
