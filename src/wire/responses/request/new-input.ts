import { parseCallSession, parseItemSession } from "../response-ids.ts";
import type { CreateRequest } from "./create-request.ts";
import { toHistory } from "./to-history.ts";
import type {
  ContentPart,
  InputItem,
  MessageInput,
  ReferenceInput,
  ToolResultInput,
} from "./input-item.ts";
import { joinText } from "./read-input.ts";
import { createNotFoundError, createRequestError } from "./request-error.ts";
import type { ModelMessage } from "../../../domain/model/model-request.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

/** The new content of a request for a session which has the earlier messages. */
export interface ContinuationInput {
  readonly instructions: string | null;
  readonly content: readonly ContentPart[];
  /** Number of parts per message of `content`. Absent if all parts are one message. */
  readonly messages?: readonly number[];
  /** Results of tool calls the session waits for. */
  readonly results: readonly ToolResultInput[];
}

/** The content of a request which opens a session. */
export interface OpeningInput {
  readonly instructions: string | null;
  readonly content: readonly ContentPart[];
  /** Number of parts per message of `content`. Absent if all parts are one message. */
  readonly messages?: readonly number[];
  /** Messages of an earlier conversation, with a result for every tool call. */
  readonly history: readonly ModelMessage[];
}

type NewRequest = Pick<CreateRequest, "instructions" | "input">;

/**
 * Reads only the new content: everything after the last item of the agent. A result before a later tool call was
 * submitted before, unless its tool call is still open: some clients send each result directly after its tool call.
 */
export function readContinuation(
  request: NewRequest,
  openCallIds: ReadonlySet<string>,
): ContinuationInput {
  const { input } = request;
  const lastCall = input.findLastIndex(({ kind }) => kind === "call");
  const lastAgentIndex = findLastAgentIndex(input);
  const results = input.flatMap((item, index) => {
    const isNew = item.kind === "result" && index > lastAgentIndex;
    return isNew && (index > lastCall || openCallIds.has(item.callId)) ? [item] : [];
  });
  const userContent = readNewContent(input, Math.max(lastAgentIndex, lastCall));
  if (userContent.content.length === 0 && results.length === 0) throw createNothingNewError(input);
  return { instructions: readInstructions(request), ...userContent, results };
}

/** Returns the results after the last assistant item. The agent may have called more tools since. */
export function findNewResults(input: readonly InputItem[]): readonly ToolResultInput[] {
  return input.slice(findLastAgentIndex(input) + 1).filter((item) => item.kind === "result");
}

function findLastAgentIndex(input: readonly InputItem[]): number {
  return input.findLastIndex((item) => isAgentItem(item) && item.kind !== "call");
}

/** Returns the index of the last item which is not new in a request opening a session. -1 if all items are new. */
export function findLastAgentItem(input: readonly InputItem[]): number {
  return input.findLastIndex((item) => isAgentItem(item) || item.kind === "result");
}

export function readOpening(request: NewRequest): OpeningInput {
  const { input } = request;
  const lastAgentIndex = findLastAgentItem(input);
  const userContent = readNewContent(input, lastAgentIndex);
  checkInputIsComplete(input);
  if (userContent.content.length === 0) throw createNothingNewError(input);
  const history = toHistory(input.slice(0, lastAgentIndex + 1));
  return { instructions: readInstructions(request), ...userContent, history };
}

/** Creates the error for a result whose tool call is not open. */
export function createUnknownCallError({
  callId,
  path,
}: Pick<ToolResultInput, "callId" | "path">): Error {
  const why = parseCallSession(callId) === null ? OTHER_CALL_HINT : KNOWN_CALL_HINT;
  return createRequestError(`No tool call "${callId.slice(0, 80)}" waits for a result${why}`, {
    param: `${path}.call_id`,
    code: "unknown_call",
  });
}

const OTHER_CALL_HINT =
  "; send the results of open tool calls, or add a user message after the result";
const KNOWN_CALL_HINT =
  ": the agent ran the tool itself, with the output in the response, or the result was submitted before. " +
  'Run only tool calls without an output there, or use the trace mode "mcp", in which only your own tool calls are function calls';

/** Returns whether an item is output of the agent, also if sent back by the caller. */
function isAgentItem(item: InputItem): boolean {
  if (item.kind === "message") return item.role === "assistant";
  // An output created by this server has an id of this server; an output of the caller has none.
  if (item.kind === "result") return item.id !== null && parseItemSession(item.id) !== null;
  return true;
}

/** Without a session, only the tool calls in the input exist, and references cannot be resolved. */
function checkInputIsComplete(input: readonly InputItem[]): void {
  checkResultsHaveCalls(input);
  for (const item of input) if (item.kind === "reference") throw createUnknownItemError(item);
}

/** Throws `unknown_call` if a result has no tool call before it. */
export function checkResultsHaveCalls(items: readonly InputItem[]): void {
  const calls = new Set<string>();
  for (const item of items) {
    if (item.kind === "call") calls.add(item.callId);
    if (item.kind === "result" && !calls.has(item.callId)) throw createUnknownCallError(item);
  }
}

function createUnknownItemError({ id, path }: ReferenceInput): Error {
  return createNotFoundError(formatUnknownName("Item", id, { fix: "send the item itself" }), {
    param: `${path}.id`,
    code: "item_not_found",
  });
}

function readNewContent(
  input: readonly InputItem[],
  lastAgentIndex: number,
): Pick<OpeningInput, "content" | "messages"> {
  const userMessages = input
    .slice(lastAgentIndex + 1)
    .filter(isFromUser)
    .map(joinTextParts);
  const messages = userMessages.map((parts) => parts.length);
  return { content: userMessages.flat(), ...(messages.length > 1 && { messages }) };
}

function isFromUser(item: InputItem): item is MessageInput {
  return item.kind === "message" && item.role === "user";
}

/** Joins adjacent texts of a message with line breaks; the parts keep their order. */
function joinTextParts({ parts, path }: MessageInput): ContentPart[] {
  const content: ContentPart[] = [];
  for (const part of parts) {
    const last = content.at(-1);
    if (part.type === "text" && last?.type === "text")
      content[content.length - 1] = { ...last, text: `${last.text}\n${part.text}` };
    else content.push(part);
  }
  if (content.every((part) => part.type === "text" && part.text.trim() === ""))
    throw createRequestError("A user message is empty: expected some text", {
      param: path === "input" ? path : `${path}.content`,
      code: "empty_message",
    });
  return content.filter((part) => part.type !== "text" || part.text.trim() !== "");
}

function createNothingNewError(input: readonly InputItem[]): Error {
  const last = input.at(-1);
  if (last?.kind === "result" && !isAgentItem(last)) return createUnknownCallError(last);
  return input.some(isFromUser)
    ? createRequestError("The input ends with output of the agent. Fix: add a user message", {
        param: "input",
        code: "no_new_message",
      })
    : createRequestError("The input has no user message. Fix: add one", {
        param: "input",
        code: "missing_user_message",
      });
}

/** Collects the instructions. They apply to this request only; the caller sends them with every request. */
export function readInstructions({ instructions, input }: NewRequest): string | null {
  const texts = input.flatMap((item) => {
    if (item.kind === "compaction") return item.instructions === null ? [] : [item.instructions];
    const isInstruction =
      item.kind === "message" && (item.role === "system" || item.role === "developer");
    return isInstruction ? [joinText(item.parts)] : [];
  });
  const allInstructions = [instructions ?? "", ...texts].filter((text) => text.trim() !== "");
  return allInstructions.length === 0 ? null : allInstructions.join("\n\n");
}
