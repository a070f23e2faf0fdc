import { SpanlineError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/json.ts";
import type { ToolCall, ToolResult, ToolResultPart } from "../../domain/tool.ts";
import type { Turn, TurnBlock } from "../../domain/turn.ts";
import type { ConverseContent, ConverseMessage, ReasoningContent } from "./request.ts";

/**
 * The two messages that answer a turn's open calls. The agent does not keep a turn that it left to us, so the
 * assistant's part goes back with the results: its text, its sealed reasoning and its calls in their order, then
 * one result for each call. Calls that the provider answered itself are in its memory already and stay out.
 *
 * Throws before anything is sent when the results do not match the calls one to one.
 */
export function resumeMessages(
  turn: Turn,
  results: readonly ToolResult[],
): readonly [ConverseMessage, ConverseMessage] {
  const byCall = matched(turn.calls, results);
  return [
    { role: "assistant", content: assistantContent(turn) },
    { role: "user", content: turn.calls.map((call) => resultContent(byCall(call))) },
  ];
}

function matched(
  calls: readonly ToolCall[],
  results: readonly ToolResult[],
): (call: ToolCall) => ToolResult {
  const given = new Map(results.map((result) => [result.callId, result]));
  const wanted = new Set(calls.map((call) => call.id));
  const missing = calls.filter((call) => !given.has(call.id)).map((call) => call.id);
  const extra = [...given.keys()].filter((id) => !wanted.has(id));
  const repeated = results.length - given.size;
  const problems = [
    ...(calls.length === 0 ? ["the turn has no open call"] : []),
    ...(missing.length > 0 ? [`no result for ${missing.join(", ")}`] : []),
    ...(extra.length > 0 ? [`no such open call: ${extra.join(", ")}`] : []),
    ...(repeated > 0 ? [`${repeated} result(s) for a call that already has one`] : []),
  ];
  if (problems.length > 0) {
    const message = `Cannot resume: ${problems.join("; ")}`;
    throw new SpanlineError("resume_mismatch", message, { details: { missing, extra, repeated } });
  }
  return (call) => given.get(call.id) as ToolResult;
}

function assistantContent(turn: Turn): ConverseContent[] {
  const open = new Set(turn.calls.map((call) => call.id));
  const isOpen = (block: TurnBlock): boolean => block.type === "call" && open.has(block.call.id);
  const content: ConverseContent[] = [];
  for (const message of turn.messages) {
    if (message.role !== "assistant" || !message.blocks.some(isOpen)) continue;
    for (const block of message.blocks) {
      const echoed = echo(block, open);
      if (echoed !== undefined) content.push(echoed);
    }
  }
  return content;
}

/** Takes a call's id out of `open`, so that a repeated id is sent once. */
function echo(block: TurnBlock, open: Set<string>): ConverseContent | undefined {
  switch (block.type) {
    case "text":
      return block.text === "" ? undefined : { text: block.text };
    case "reasoning":
      return reasoning(block);
    case "call":
      return open.delete(block.call.id) ? toolUse(block.call) : undefined;
    case "result":
      return undefined;
    default:
      return block satisfies never;
  }
}

function reasoning(block: Extract<TurnBlock, { type: "reasoning" }>): ConverseContent | undefined {
  const { text, signature, redacted } = block;
  let reasoningContent: ReasoningContent;
  if (redacted !== undefined) reasoningContent = { redactedContent: redacted };
  else if (signature !== undefined) reasoningContent = { reasoningText: { text, signature } };
  else if (text !== "") reasoningContent = { reasoningText: { text } };
  else return undefined;
  return { reasoningContent };
}

function toolUse(call: ToolCall): ConverseContent {
  // Arguments that cannot be read go back inside an object, which is all that models take here.
  const input = call.input ?? { unreadable: call.inputText };
  return { toolUse: { toolUseId: call.id, name: call.name, input, type: "tool_use" } };
}

function resultContent(result: ToolResult): ConverseContent {
  const parts = result.parts.map(partContent);
  return {
    toolResult: {
      toolUseId: result.callId,
      content: parts.length === 0 ? [NO_OUTPUT] : parts,
      status: result.isError ? "error" : "success",
      type: "tool_use",
    },
  };
}

function partContent(part: ToolResultPart): { text: string } | { json: JsonValue } {
  switch (part.type) {
    case "text":
      return part.text === "" ? NO_OUTPUT : { text: part.text.toWellFormed() };
    case "json":
      return { json: part.value };
    case "unknown":
      return { text: JSON.stringify(part.raw) ?? "null" };
    default:
      return part satisfies never;
  }
}

/** The service refuses empty text. */
const NO_OUTPUT = { text: "(no output)" };
