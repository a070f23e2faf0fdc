import { SpanlineError } from "../../domain/errors.ts";
import { toJsonText, type JsonValue } from "../../data/json.ts";
import type { ToolCall, ToolResult, ToolResultPart } from "../../domain/tools/tool-call.ts";
import type { Turn, TurnBlock, TurnMessage } from "../../domain/provider/turn.ts";
import type { ConverseContent, ConverseMessage, JsonDocument } from "./converse-input.ts";

/** What there has to be of a turn to answer its calls. */
export type ResumableTurn = Pick<Turn, "messages" | "toolCalls">;

/**
 * The two messages that answer a turn's open calls. The agent does not keep a turn that it left to us, so the
 * assistant's part goes back with the results: its text, its sealed reasoning and its calls in their order, then
 * one result for each call. Calls that the provider answered itself are in its memory already and stay out.
 *
 * Throws before anything is sent when the results do not match the calls one to one.
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

/** Finds the result of each call. Throws unless every call has one, and there is no other. */
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
    ...(calls.length === 0 ? ["the turn has no open call"] : []),
    ...(missingIds.length > 0 ? [`no result for ${missingIds.join(", ")}`] : []),
    ...(extraIds.length > 0 ? [`no such open call: ${extraIds.join(", ")}`] : []),
    ...(repeatedCount > 0 ? [`${repeatedCount} result(s) for a call that already has one`] : []),
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

/** The message that each open call goes back with: the last one that opened it. */
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
  // Arguments that cannot be read go back inside an object, which is all that models take here.
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

/** A copy: what is sent is the receiver's to change. */
export function cloneJson(value: JsonValue): JsonDocument {
  return structuredClone(value) as JsonDocument;
}

/** The service refuses empty text. */
const NO_OUTPUT = "(no output)";
