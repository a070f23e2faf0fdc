import { sessionOfCall, sessionOfItem } from "../ids.ts";
import type { CreateRequest } from "./create-request.ts";
import { historyOf } from "./history.ts";
import type {
  ContentPart,
  InputItem,
  MessageInput,
  ReferenceInput,
  ResultInput,
} from "./input-item.ts";
import { textOf } from "./read-input.ts";
import { missing, refusal } from "./refusal.ts";
import type { ModelMessage } from "../../../domain/model-request.ts";

/** What a request says to a session that knows all that was said before. */
export interface Continuation {
  readonly instructions: string | null;
  readonly content: readonly ContentPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  /** Of calls that the session waits for. */
  readonly results: readonly ResultInput[];
}

/** What a request says to a session that is still to be opened. */
export interface Beginning {
  readonly instructions: string | null;
  readonly content: readonly ContentPart[];
  /** How many parts each message of `content` has. Absent: all parts are one message. */
  readonly messages?: readonly number[];
  /** What was said elsewhere, with a result for every call. */
  readonly history: readonly ModelMessage[];
}

type Said = Pick<CreateRequest, "instructions" | "input">;

/**
 * Only what is new: everything behind the agent's last word. A result that stands before a later call was brought
 * already, unless its call is among those that are still open: some clients put every result behind its own call.
 */
export function continuationOf(request: Said, openCalls: ReadonlySet<string>): Continuation {
  const { input } = request;
  const lastCall = input.findLastIndex(({ kind }) => kind === "call");
  const lastWord = lastWordIn(input);
  const results = input.flatMap((item, index) => {
    const isNew = item.kind === "result" && index > lastWord;
    return isNew && (index > lastCall || openCalls.has(item.callId)) ? [item] : [];
  });
  const said = newContent(input, Math.max(lastWord, lastCall));
  if (said.content.length === 0 && results.length === 0) throw nothingNew(input);
  return { instructions: instructionsOf(request), ...said, results };
}

/** Results behind all that the agent said; it may have called more tools since. */
export function newResults(input: readonly InputItem[]): readonly ResultInput[] {
  return input.slice(lastWordIn(input) + 1).filter((item) => item.kind === "result");
}

function lastWordIn(input: readonly InputItem[]): number {
  return input.findLastIndex((item) => isOfAgent(item) && item.kind !== "call");
}

export function beginningOf(request: Said): Beginning {
  const { input } = request;
  const lastWord = input.findLastIndex((item) => isOfAgent(item) || item.kind === "result");
  const said = newContent(input, lastWord);
  checkNothingIsMissing(input);
  if (said.content.length === 0) throw nothingNew(input);
  const history = historyOf(input.slice(0, lastWord + 1));
  return { instructions: instructionsOf(request), ...said, history };
}

/** A result of a call that nobody waits for. */
export function unknownCall({ callId, path }: Pick<ResultInput, "callId" | "path">): Error {
  const why = sessionOfCall(callId) === null ? OTHER_CALL : KNOWN_CALL;
  return refusal(`No call "${callId.slice(0, 80)}" waits for a result${why}`, {
    param: `${path}.call_id`,
    code: "unknown_call",
  });
}

const OTHER_CALL = "; send those that are open, or add what the user says behind it";
const KNOWN_CALL =
  ": the agent has run it itself, and its output is in the response, or it has its result already. " +
  'Run only calls that have no output there, or ask for the trace mode "mcp", which shows your own calls alone as function calls';

/** What the agent said or did, also as it was sent back to us. */
function isOfAgent(item: InputItem): boolean {
  if (item.kind === "message") return item.role === "assistant";
  // An output that we gave has an id of ours; one that the caller made has none.
  if (item.kind === "result") return item.id !== null && sessionOfItem(item.id) !== null;
  return true;
}

/** Without a session there are no calls but those in the input, and no items to refer to. */
function checkNothingIsMissing(input: readonly InputItem[]): void {
  checkAnswered(input);
  for (const item of input) if (item.kind === "reference") throw unknownItem(item);
}

/** Throws if a result has no call before it. */
export function checkAnswered(items: readonly InputItem[]): void {
  const calls = new Set<string>();
  for (const item of items) {
    if (item.kind === "call") calls.add(item.callId);
    if (item.kind === "result" && !calls.has(item.callId)) throw unknownCall(item);
  }
}

function unknownItem({ id, path }: ReferenceInput): Error {
  return missing(`There is no item "${id.slice(0, 80)}"; send the item itself`, {
    param: `${path}.id`,
    code: "item_not_found",
  });
}

function newContent(
  input: readonly InputItem[],
  lastWord: number,
): Pick<Beginning, "content" | "messages"> {
  const said = input
    .slice(lastWord + 1)
    .filter(isFromUser)
    .map(joined);
  const messages = said.map((parts) => parts.length);
  return { content: said.flat(), ...(messages.length > 1 && { messages }) };
}

function isFromUser(item: InputItem): item is MessageInput {
  return item.kind === "message" && item.role === "user";
}

/** The parts in their order; texts that follow each other are one, on lines of their own. */
function joined({ parts, path }: MessageInput): ContentPart[] {
  const content: ContentPart[] = [];
  for (const part of parts) {
    const last = content.at(-1);
    if (part.type === "text" && last?.type === "text")
      content[content.length - 1] = { ...last, text: `${last.text}\n${part.text}` };
    else content.push(part);
  }
  if (content.every((part) => part.type === "text" && part.text.trim() === ""))
    throw refusal("A message of the user's says nothing; give it some text", {
      param: path === "input" ? path : `${path}.content`,
      code: "empty_message",
    });
  return content.filter((part) => part.type !== "text" || part.text.trim() !== "");
}

function nothingNew(input: readonly InputItem[]): Error {
  const last = input.at(-1);
  if (last?.kind === "result" && !isOfAgent(last)) return unknownCall(last);
  return input.some(isFromUser)
    ? refusal("The agent has the last word in the input; add what the user says to it", {
        param: "input",
        code: "no_new_message",
      })
    : refusal("There is no message of the user's in the input; add one", {
        param: "input",
        code: "missing_user_message",
      });
}

/** For this request alone: the caller sends them again, or does without them. */
export function instructionsOf({ instructions, input }: Said): string | null {
  const texts = input.flatMap((item) => {
    if (item.kind === "compaction") return item.instructions === null ? [] : [item.instructions];
    const isInstruction =
      item.kind === "message" && (item.role === "system" || item.role === "developer");
    return isInstruction ? [textOf(item.parts)] : [];
  });
  const said = [instructions ?? "", ...texts].filter((text) => text.trim() !== "");
  return said.length === 0 ? null : said.join("\n\n");
}
