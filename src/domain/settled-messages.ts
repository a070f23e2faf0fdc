import {
  alternatingMessages,
  isBlank,
  joinedMessages,
  type ModelBlock,
  type ModelMessage,
} from "./model-request.ts";
import { toolError, type ToolCall, type ToolResult } from "./tool.ts";

/**
 * A conversation that somebody else can take up: roles alternate, the user begins, and every call has one result,
 * directly behind it. A call that nobody answered gets one that says so, and a result that answers no call is left out.
 */
export function settledMessages(messages: readonly ModelMessage[]): ModelMessage[] {
  if (messages.every(({ blocks }) => blocks.every(isBlank))) return [];
  const groups = alternatingMessages({ messages });
  const answers = answersIn(groups);
  const settled = groups.flatMap(({ role, blocks }): ModelMessage[] => {
    if (role === "user") return [{ role, blocks: blocks.filter(({ type }) => type !== "result") }];
    const said = withoutRepeats(blocks);
    const results = said.flatMap((block): ModelBlock[] =>
      block.type === "call" ? [{ type: "result", result: answerTo(block.call, answers) }] : [],
    );
    return [
      { role, blocks: said },
      { role: "user", blocks: results },
    ];
  });
  const [first, ...rest] = joinedMessages(settled);
  if (first === undefined) return [];
  return first.role === "user" ? [first, ...rest] : [BEGINNING, first, ...rest];
}

/** An id may come back for another call: a result answers the last call before it that has its id. */
function answersIn(groups: readonly ModelMessage[]): ReadonlyMap<ToolCall, ToolResult> {
  const open = new Map<string, ToolCall>();
  const answers = new Map<ToolCall, ToolResult>();
  for (const block of groups.flatMap(({ blocks }) => blocks)) {
    if (block.type === "call") open.set(block.call.id, block.call);
    const call = block.type === "result" ? open.get(block.result.callId) : undefined;
    if (block.type !== "result" || call === undefined) continue;
    answers.set(call, block.result);
    open.delete(call.id);
  }
  return answers;
}

function answerTo(call: ToolCall, answers: ReadonlyMap<ToolCall, ToolResult>): ToolResult {
  return answers.get(call) ?? toolError(call.id, UNKNOWN_OUTCOME);
}

const UNKNOWN_OUTCOME =
  "The outcome of this call is unknown: its result was lost. It may or may not have had its effect.";

/** Of two calls with one id in one message, the last counts, as it does in a turn. */
function withoutRepeats(blocks: readonly ModelBlock[]): ModelBlock[] {
  const last = new Map<string, ModelBlock>();
  for (const block of blocks) if (block.type === "call") last.set(block.call.id, block);
  return blocks.filter((block) => block.type !== "call" || last.get(block.call.id) === block);
}

/** No model takes a conversation that it begins itself. */
const BEGINNING: ModelMessage = {
  role: "user",
  blocks: [{ type: "text", text: "(What was said before this is not known.)" }],
};
