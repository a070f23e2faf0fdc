import { SpanlineError } from "../../domain/errors.ts";
import { jsonText, type JsonValue } from "../../domain/json.ts";
import type { ToolCall, ToolResult, ToolResultPart } from "../../domain/tool.ts";
import type { Turn, TurnBlock, TurnMessage } from "../../domain/turn.ts";
import type { ConverseContent, ConverseMessage, JsonDocument } from "./request.ts";

/** What there has to be of a turn to answer its calls. */
export type ResumableTurn = Pick<Turn, "messages" | "calls">;

/**
 * The two messages that answer a turn's open calls. The agent does not keep a turn that it left to us, so the
 * assistant's part goes back with the results: its text, its sealed reasoning and its calls in their order, then
 * one result for each call. Calls that the provider answered itself are in its memory already and stay out.
 *
 * Throws before anything is sent when the results do not match the calls one to one.
 */
export function resumeMessages(
  turn: ResumableTurn,
  results: readonly ToolResult[],
): [ConverseMessage, ConverseMessage] {
  const byCall = matched(turn.calls, results);
  return [
    { role: "assistant", content: assistantContent(turn) },
    { role: "user", content: turn.calls.map((call) => resultContent(byCall(call))) },
  ];
}

/** Finds the result of each call. Throws unless every call has one, and there is no other. */
export function matched(
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

function assistantContent(turn: ResumableTurn): ConverseContent[] {
  const holders = holdersOf(turn);
  return turn.messages.flatMap((message) => {
    const isHeld = (call: ToolCall): boolean => holders.get(call.id) === message;
    const calls = message.blocks.some((block) => block.type === "call" && isHeld(block.call));
    return calls ? message.blocks.flatMap((block) => echo(block, isHeld)) : [];
  });
}

/** The message that each open call goes back with: the last one that opened it. */
function holdersOf({ calls, messages }: ResumableTurn): ReadonlyMap<string, TurnMessage> {
  const open = new Set(calls.map((call) => call.id));
  const holders = new Map<string, TurnMessage>();
  for (const message of messages) {
    for (const block of message.blocks) {
      if (block.type === "call" && open.has(block.call.id)) holders.set(block.call.id, message);
    }
  }
  return holders;
}

function echo(block: TurnBlock, isHeld: (call: ToolCall) => boolean): ConverseContent[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ text: block.text }];
    case "reasoning":
      return reasoning(block);
    case "call":
      return isHeld(block.call) ? [toolUse(block.call)] : [];
    case "result":
      return [];
    default:
      return block satisfies never;
  }
}

export function reasoning(block: Extract<TurnBlock, { type: "reasoning" }>): ConverseContent[] {
  const { text, signature, redacted } = block;
  if (redacted !== undefined) return [{ reasoningContent: { redactedContent: redacted } }];
  if (signature !== undefined)
    return [{ reasoningContent: { reasoningText: { text, signature } } }];
  return text === "" ? [] : [{ reasoningContent: { reasoningText: { text } } }];
}

export function toolUse(call: ToolCall): ConverseContent {
  // Arguments that cannot be read go back inside an object, which is all that models take here.
  const input = document(call.input ?? { unreadable: call.inputText });
  return { toolUse: { toolUseId: call.id, name: call.name, input, type: "tool_use" } };
}

export function resultContent(result: ToolResult): ConverseContent {
  const parts = result.parts.map(partContent);
  return {
    toolResult: {
      toolUseId: result.callId,
      content: parts.length === 0 ? [{ text: NO_OUTPUT }] : parts,
      status: result.isError ? "error" : "success",
      type: "tool_use",
    },
  };
}

export function partContent(part: ToolResultPart): { text: string } | { json: JsonDocument } {
  switch (part.type) {
    case "text":
      return { text: part.text === "" ? NO_OUTPUT : part.text.toWellFormed() };
    case "json":
      return { json: document(part.value) };
    case "unknown":
      return { text: jsonText(part.raw) };
    default:
      return part satisfies never;
  }
}

/** A copy: what is sent is the receiver's to change. */
export function document(value: JsonValue): JsonDocument {
  return structuredClone(value) as JsonDocument;
}

/** The service refuses empty text. */
const NO_OUTPUT = "(no output)";
