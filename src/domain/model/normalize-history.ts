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
import { toolError, type ToolCall, type ToolResult } from "../tools/tool-call.ts";

/**
 * A conversation that somebody else can take up: roles alternate, the user begins, and every call has one result,
 * directly behind it. A call that nobody answered gets one that says so, and a result that answers no call is left out.
 */
export function normalizeHistory(messages: readonly ModelMessage[]): ModelMessage[] {
  return startWithUser(pairToolResults(messages));
}

/** The same for messages that follow others: either side may begin. */
export function pairToolResults(messages: readonly ModelMessage[]): ModelMessage[] {
  if (messages.every(({ blocks }) => blocks.every(isBlank))) return [];
  return normalizeGroups(toAlternatingMessages({ messages }), NO_TOOL_CALL_IDS).messages;
}

/** One part of a conversation, settled apart from the rest. */
export interface NormalizedPart extends PartStart, PartEnd {
  readonly messages: ModelMessage[];
  /** Ids of the calls, of this part and of those before, that have no result yet. */
  readonly openToolCallIds: ReadonlySet<string>;
  /** A result answers a call of an earlier part, so the parts cannot be settled apart. */
  readonly answersEarlier: boolean;
}

/** `earlier` are the ids of calls without a result in the parts before. */
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

/** No model accepts a conversation that begins with its own message. */
export function startWithUser(messages: ModelMessage[]): ModelMessage[] {
  return messages[0]?.role === "assistant" ? [{ ...UNKNOWN_START }, ...messages] : messages;
}

/** An id may come back for another call: a result answers the last call before it that has its id. */
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
  return answers.get(call) ?? toolError(call.id, UNKNOWN_OUTCOME);
}

const UNKNOWN_OUTCOME =
  "The outcome of this call is unknown: its result was lost. It may or may not have had its effect.";

/** Of two calls with one id in one message, the last counts, as it does in a turn. */
function removeRepeatedCalls(blocks: readonly ModelBlock[]): ModelBlock[] {
  const last = new Map<string, ModelBlock>();
  for (const block of blocks) if (block.type === "tool-call") last.set(block.toolCall.id, block);
  return blocks.filter(
    (block) => block.type !== "tool-call" || last.get(block.toolCall.id) === block,
  );
}

/** No model takes a conversation that it begins itself. */
const UNKNOWN_START: ModelMessage = {
  role: "user",
  blocks: [{ type: "text", text: "(What was said before this is not known.)" }],
};
