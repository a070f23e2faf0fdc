import { SpanlineError } from "../../domain/errors.ts";
import { toJsonText, type JsonValue } from "../../data/json.ts";
import type { ToolCall, ToolResult, ToolResultPart } from "../../domain/tools/tool-call.ts";
import type { Turn, TurnBlock, TurnMessage } from "../../domain/provider/turn.ts";
import type { ConverseContent, ConverseMessage, JsonDocument } from "./converse-input.ts";

/** The parts of a turn needed to send the results of its tool calls. */
export type ResumableTurn = Pick<Turn, "messages" | "toolCalls">;

/**
 * Creates the two messages with the results of a turn's open tool calls. The harness does not store a turn which ended
 * for client tools, so the assistant message is sent again: its text, its signed reasoning and its tool calls in order.
 * The user message has one result per tool call. Tool calls answered by the provider are already in its memory and are
 * omitted.
 *
 * Throws `resume_mismatch`, before any request is sent, unless the results match the tool calls one to one.
 */
export function createResumeMessages(
  turn: ResumableTurn,
  results: readonly ToolResult[],
): [ConverseMessage, ConverseMessage] {
  const findResult = matchResults(turn.toolCalls, results);
  return [
    { role: "assistant", content: encodeAssistantContent(turn) },
    { role: "user", content: turn.toolCalls.map((call) => encodeToolResult(findResult(call))) },
  ];
}

/**
 * Returns a lookup for the result of each tool call. Throws `resume_mismatch` unless every tool call has exactly one
 * result.
 */
export function matchResults(
  calls: readonly ToolCall[],
  results: readonly ToolResult[],
): (call: ToolCall) => ToolResult {
  const resultsById = new Map(results.map((result) => [result.toolCallId, result]));
  const expectedIds = new Set(calls.map((call) => call.id));
  const missingIds = calls.filter((call) => !resultsById.has(call.id)).map((call) => call.id);
  const extraIds = [...resultsById.keys()].filter((id) => !expectedIds.has(id));
  const repeatedCount = results.length - resultsById.size;
  const problems = [
    ...(calls.length === 0 ? ["the turn has no open tool call"] : []),
    ...(missingIds.length > 0 ? [`no result for ${missingIds.join(", ")}`] : []),
    ...(extraIds.length > 0 ? [`no open tool call with the id: ${extraIds.join(", ")}`] : []),
    ...(repeatedCount > 0 ? [`${repeatedCount} duplicate result(s)`] : []),
  ];
  if (problems.length > 0) {
    const message = `Cannot resume: ${problems.join("; ")}`;
    throw new SpanlineError("resume_mismatch", message, {
      details: { missing: missingIds, extra: extraIds, repeated: repeatedCount },
    });
  }
  return (call) => resultsById.get(call.id) as ToolResult;
}

function encodeAssistantContent(turn: ResumableTurn): ConverseContent[] {
  const messagesByToolCall = findToolCallMessages(turn);
  return turn.messages.flatMap((message) => {
    const isInMessage = (call: ToolCall): boolean => messagesByToolCall.get(call.id) === message;
    const hasToolCalls = message.blocks.some(
      (block) => block.type === "tool-call" && isInMessage(block.toolCall),
    );
    return hasToolCalls
      ? message.blocks.flatMap((block) => encodeTurnBlock(block, isInMessage))
      : [];
  });
}

/** Maps each open tool call to the last message with a start event for the tool call. */
function findToolCallMessages({
  toolCalls,
  messages,
}: ResumableTurn): ReadonlyMap<string, TurnMessage> {
  const openIds = new Set(toolCalls.map((call) => call.id));
  const messagesByToolCall = new Map<string, TurnMessage>();
  for (const message of messages) {
    for (const block of message.blocks) {
      if (block.type === "tool-call" && openIds.has(block.toolCall.id))
        messagesByToolCall.set(block.toolCall.id, message);
    }
  }
  return messagesByToolCall;
}

function encodeTurnBlock(
  block: TurnBlock,
  isInMessage: (call: ToolCall) => boolean,
): ConverseContent[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ text: block.text }];
    case "reasoning":
      return encodeReasoning(block);
    case "tool-call":
      return isInMessage(block.toolCall) ? [encodeToolUse(block.toolCall)] : [];
    case "tool-result":
      return [];
    default:
      return block satisfies never;
  }
}

export function encodeReasoning(
  block: Extract<TurnBlock, { type: "reasoning" }>,
): ConverseContent[] {
  const { text, signature, redacted } = block;
  if (redacted !== undefined) return [{ reasoningContent: { redactedContent: redacted } }];
  if (signature !== undefined)
    return [{ reasoningContent: { reasoningText: { text, signature } } }];
  return text === "" ? [] : [{ reasoningContent: { reasoningText: { text } } }];
}

export function encodeToolUse(call: ToolCall): ConverseContent {
  // Unreadable arguments are sent back inside an object, because models accept only objects here.
  const input = cloneJson(call.input ?? { unreadable: call.inputText });
  return { toolUse: { toolUseId: call.id, name: call.name, input, type: "tool_use" } };
}

export function encodeToolResult(result: ToolResult): ConverseContent {
  const parts = result.parts.map(encodeResultPart);
  return {
    toolResult: {
      toolUseId: result.toolCallId,
      content: parts.length === 0 ? [{ text: NO_OUTPUT }] : parts,
      status: result.isError ? "error" : "success",
      type: "tool_use",
    },
  };
}

export function encodeResultPart(part: ToolResultPart): { text: string } | { json: JsonDocument } {
  switch (part.type) {
    case "text":
      return { text: part.text === "" ? NO_OUTPUT : part.text.toWellFormed() };
    case "json":
      return { json: cloneJson(part.value) };
    case "unknown":
      return { text: toJsonText(part.raw) };
    default:
      return part satisfies never;
  }
}

/** Copies a JSON value, because the receiver may change the request. */
export function cloneJson(value: JsonValue): JsonDocument {
  return structuredClone(value) as JsonDocument;
}

/** The service refuses empty text. */
const NO_OUTPUT = "(no output)";
