import {
  toAlternatingMessages,
  alternateMessages,
  isBlank,
  joinMessages,
  type ModelBlock,
  type ModelMessage,
  type PartEnd,
  type PartStart,
} from "./model-request.ts";
import { createToolError, type ToolCall, type ToolResult } from "../tools/tool-call.ts";

/**
 * Returns a conversation which any model can continue: roles alternate, the user begins, and every tool call has
 * exactly one result, directly after it. A call without a result gets an error result stating so; a result without a
 * call is dropped.
 */
export function normalizeHistory(messages: readonly ModelMessage[]): ModelMessage[] {
  return startWithUser(pairToolResults(messages));
}

/** Like `normalizeHistory`, for messages which follow others: either role may begin. */
export function pairToolResults(messages: readonly ModelMessage[]): ModelMessage[] {
  if (messages.every(({ blocks }) => blocks.every(isBlank))) return [];
  return normalizeGroups(toAlternatingMessages({ messages }), NO_TOOL_CALL_IDS).messages;
}

/** A part of a conversation, normalized separately. */
export interface NormalizedPart extends PartStart, PartEnd {
  readonly messages: ModelMessage[];
  /** Ids of tool calls without a result, in this part and all earlier ones. */
  readonly openToolCallIds: ReadonlySet<string>;
  /** A result belongs to a call of an earlier part, so the parts cannot be normalized separately. */
  readonly answersEarlier: boolean;
}

/** `earlierToolCallIds`: calls without a result in earlier parts. */
export function normalizePart(
  messages: readonly ModelMessage[],
  earlierToolCallIds: ReadonlySet<string>,
): NormalizedPart {
  const { groups, first, last } = alternateMessages(messages);
  const settled = normalizeGroups(groups, earlierToolCallIds);
  const firstRole = settled.messages[0]?.role;
  return { ...settled, first, last, firstRole, lastRole: settled.messages.at(-1)?.role };
}

function normalizeGroups(
  groups: readonly ModelMessage[],
  earlierToolCallIds: ReadonlySet<string>,
): Pick<NormalizedPart, "messages" | "openToolCallIds" | "answersEarlier"> {
  const {
    answers,
    open: openToolCallIds,
    answersEarlier,
  } = pairResults(groups, earlierToolCallIds);
  const settled = groups.flatMap(({ role, blocks }): ModelMessage[] => {
    if (role === "user")
      return [{ role, blocks: blocks.filter(({ type }) => type !== "tool-result") }];
    const distinctBlocks = removeRepeatedCalls(blocks);
    const results = distinctBlocks.flatMap((block): ModelBlock[] =>
      block.type === "tool-call"
        ? [{ type: "tool-result", result: resolveResult(block.toolCall, answers) }]
        : [],
    );
    return [
      { role, blocks: distinctBlocks },
      { role: "user", blocks: results },
    ];
  });
  return { messages: joinMessages(settled), openToolCallIds, answersEarlier };
}

export const NO_TOOL_CALL_IDS: ReadonlySet<string> = new Set();

/** Adds a user message in front if needed: no model accepts a conversation starting with an assistant message. */
export function startWithUser(messages: ModelMessage[]): ModelMessage[] {
  return messages[0]?.role === "assistant" ? [{ ...UNKNOWN_START }, ...messages] : messages;
}

/** Pairs each result with the last preceding call of its id, since models reuse ids. */
function pairResults(
  groups: readonly ModelMessage[],
  earlier: ReadonlySet<string>,
): {
  readonly answers: ReadonlyMap<ToolCall, ToolResult>;
  readonly open: ReadonlySet<string>;
  readonly answersEarlier: boolean;
} {
  const open = new Map<string, ToolCall | null>([...earlier].map((id) => [id, null]));
  const answers = new Map<ToolCall, ToolResult>();
  let answersEarlier = false;
  for (const block of groups.flatMap(({ blocks }) => blocks)) {
    if (block.type === "tool-call") open.set(block.toolCall.id, block.toolCall);
    const call = block.type === "tool-result" ? open.get(block.result.toolCallId) : undefined;
    if (block.type !== "tool-result" || call === undefined) continue;
    open.delete(block.result.toolCallId);
    if (call === null) answersEarlier = true;
    else answers.set(call, block.result);
  }
  return { answers, open: new Set(open.keys()), answersEarlier };
}

function resolveResult(call: ToolCall, answers: ReadonlyMap<ToolCall, ToolResult>): ToolResult {
  return answers.get(call) ?? createToolError(call.id, UNKNOWN_OUTCOME);
}

const UNKNOWN_OUTCOME =
  "The outcome of this call is unknown: its result was lost. It may or may not have had its effect.";

/** Keeps the last of several calls with the same id in a message, as a turn does. */
function removeRepeatedCalls(blocks: readonly ModelBlock[]): ModelBlock[] {
  const last = new Map<string, ModelBlock>();
  for (const block of blocks) if (block.type === "tool-call") last.set(block.toolCall.id, block);
  return blocks.filter(
    (block) => block.type !== "tool-call" || last.get(block.toolCall.id) === block,
  );
}

/** Stands for the unknown beginning of a conversation which starts with an assistant message. */
const UNKNOWN_START: ModelMessage = {
  role: "user",
  blocks: [{ type: "text", text: "(The messages before this one are unknown.)" }],
};
