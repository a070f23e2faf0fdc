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

/** What a request says to a session that knows all that was said before. */
export interface ContinuationInput {
  readonly instructions: string | null;
  readonly content: readonly ContentPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  /** Of calls that the session waits for. */
  readonly results: readonly ToolResultInput[];
}

/** What a request says to a session that is still to be opened. */
export interface OpeningInput {
  readonly instructions: string | null;
  readonly content: readonly ContentPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  /** What was said elsewhere, with a result for every call. */
  readonly history: readonly ModelMessage[];
}

type NewRequest = Pick<CreateRequest, "instructions" | "input">;

/**
 * Only what is new: everything behind the agent's last word. A result that stands before a later call was brought
 * already, unless its call is among those that are still open: some clients put every result behind its own call.
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

/** Results behind all that the agent said; it may have called more tools since. */
export function findNewResults(input: readonly InputItem[]): readonly ToolResultInput[] {
  return input.slice(findLastAgentIndex(input) + 1).filter((item) => item.kind === "result");
}

function findLastAgentIndex(input: readonly InputItem[]): number {
  return input.findLastIndex((item) => isAgentItem(item) && item.kind !== "call");
}

/** The index of the last item that is not new in a request that opens a session; -1 if all are new. */
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

/** A result of a call that nobody waits for. */
export function createUnknownCallError({
  callId,
  path,
}: Pick<ToolResultInput, "callId" | "path">): Error {
  const why = parseCallSession(callId) === null ? OTHER_CALL_HINT : KNOWN_CALL_HINT;
  return createRequestError(`No call "${callId.slice(0, 80)}" waits for a result${why}`, {
    param: `${path}.call_id`,
    code: "unknown_call",
  });
}

const OTHER_CALL_HINT = "; send those that are open, or add what the user says behind it";
const KNOWN_CALL_HINT =
  ": the agent has run it itself, and its output is in the response, or it has its result already. " +
  'Run only calls that have no output there, or ask for the trace mode "mcp", which shows your own calls alone as function calls';

/** What the agent said or did, also as it was sent back to us. */
function isAgentItem(item: InputItem): boolean {
  if (item.kind === "message") return item.role === "assistant";
  // An output that we gave has an id of ours; one that the caller made has none.
  if (item.kind === "result") return item.id !== null && parseItemSession(item.id) !== null;
  return true;
}

/** Without a session there are no calls but those in the input, and no items to refer to. */
function checkInputIsComplete(input: readonly InputItem[]): void {
  checkResultsHaveCalls(input);
  for (const item of input) if (item.kind === "reference") throw createUnknownItemError(item);
}

/** Throws if a result has no call before it. */
export function checkResultsHaveCalls(items: readonly InputItem[]): void {
  const calls = new Set<string>();
  for (const item of items) {
    if (item.kind === "call") calls.add(item.callId);
    if (item.kind === "result" && !calls.has(item.callId)) throw createUnknownCallError(item);
  }
}

function createUnknownItemError({ id, path }: ReferenceInput): Error {
  return createNotFoundError(`There is no item "${id.slice(0, 80)}"; send the item itself`, {
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

/** The parts in their order; texts that follow each other are one, on lines of their own. */
function joinTextParts({ parts, path }: MessageInput): ContentPart[] {
  const content: ContentPart[] = [];
  for (const part of parts) {
    const last = content.at(-1);
    if (part.type === "text" && last?.type === "text")
      content[content.length - 1] = { ...last, text: `${last.text}\n${part.text}` };
    else content.push(part);
  }
  if (content.every((part) => part.type === "text" && part.text.trim() === ""))
    throw createRequestError("A message of the user's says nothing; give it some text", {
      param: path === "input" ? path : `${path}.content`,
      code: "empty_message",
    });
  return content.filter((part) => part.type !== "text" || part.text.trim() !== "");
}

function createNothingNewError(input: readonly InputItem[]): Error {
  const last = input.at(-1);
  if (last?.kind === "result" && !isAgentItem(last)) return createUnknownCallError(last);
  return input.some(isFromUser)
    ? createRequestError("The agent has the last word in the input; add what the user says to it", {
        param: "input",
        code: "no_new_message",
      })
    : createRequestError("There is no message of the user's in the input; add one", {
        param: "input",
        code: "missing_user_message",
      });
}

/** For this request alone: the caller sends them again, or does without them. */
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
