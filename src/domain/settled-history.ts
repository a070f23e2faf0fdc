import { isBlank, isClean, type ModelBlock, type ModelMessage } from "./model-request.ts";
import {
  fromUser,
  NO_CALLS,
  settledMessages,
  settledPart,
  type SettledPart,
} from "./settled-messages.ts";

/** The messages of `settledMessages`, of which the first are the same objects as the time before. */
export interface SettledHistory {
  readonly messages: readonly ModelMessage[];
  /** How many of the messages come from the stable part of the conversation. */
  readonly stableCount: number;
  /** Names of all tools that were called, each once, in the order of their first call. */
  calledTools(): readonly string[];
}

/**
 * Settles a conversation whose first `stableCount` messages are the same, unchanged objects every time. Costs as much as
 * the messages since the last time.
 */
export type SettleHistory = (
  messages: readonly ModelMessage[],
  stableCount: number,
) => SettledHistory;

/** Creates a cache of settled conversations. A conversation stays cached for as long as its first message is reachable. */
export function settledHistories(): SettleHistory {
  const prefixes = new WeakMap<ModelMessage, Prefix>();
  return (messages, stableCount) => {
    const [first] = messages;
    if (first === undefined || stableCount === 0) return settledWhole(messages);
    const known = prefixes.get(first);
    const reused = known !== undefined && isPrefix(known, messages, stableCount) ? known : null;
    const settled = reused === null ? undefined : settledFrom(reused, messages, stableCount);
    if (settled !== undefined) return settled;
    const prefix = emptyPrefix();
    prefixes.set(first, prefix);
    return settledFrom(prefix, messages, stableCount) ?? settledWhole(messages);
  };
}

/** The settled form of the first messages of a conversation. Grows; its messages are never replaced. */
interface Prefix {
  readonly source: ModelMessage[];
  readonly settled: ModelMessage[];
  readonly names: Set<string>;
  open: ReadonlySet<string>;
  end: Pick<SettledPart, "last" | "lastRole"> | null;
}

function emptyPrefix(): Prefix {
  return { source: [], settled: [], names: new Set(), open: NO_CALLS, end: null };
}

/** Compares by identity: anything that changes the history makes other objects. */
function isPrefix(
  { source }: Prefix,
  messages: readonly ModelMessage[],
  stableCount: number,
): boolean {
  if (source.length > stableCount) return false;
  for (let index = 0; index < source.length; index++)
    if (source[index] !== messages[index]) return false;
  return true;
}

function settledWhole(messages: readonly ModelMessage[]): SettledHistory {
  const settled = settledMessages(messages);
  return { messages: settled, stableCount: 0, calledTools: () => [...namesIn(settled)] };
}

/** Undefined if the messages after the prefix cannot be settled apart from it. */
function settledFrom(
  prefix: Prefix,
  messages: readonly ModelMessage[],
  stableCount: number,
): SettledHistory | undefined {
  const start = prefix.source.length;
  for (const cut of cutsIn(messages, start, stableCount)) {
    const added = messages.slice(start, cut);
    const stable = settledPart(added, prefix.open);
    const rest = settledPart(messages.slice(cut), stable.open);
    if (!follows(prefix.end, stable) || !follows(stable, rest)) continue;
    grow(prefix, added, stable);
    return settledHistory(prefix, rest);
  }
  const rest = settledPart(messages.slice(start), prefix.open);
  return prefix.end !== null && follows(prefix.end, rest)
    ? settledHistory(prefix, rest)
    : undefined;
}

function settledHistory(
  { settled, names }: Prefix,
  { messages: rest }: SettledPart,
): SettledHistory {
  return {
    messages: [...settled, ...rest],
    stableCount: settled.length,
    calledTools: () => [...new Set([...names, ...namesIn(rest)])],
  };
}

function follows(before: Prefix["end"], after: SettledPart): boolean {
  return !after.answersEarlier && (before === null || isClean(before, after));
}

function grow(prefix: Prefix, added: readonly ModelMessage[], part: SettledPart): void {
  const settled = prefix.settled.length === 0 ? fromUser(part.messages) : part.messages;
  for (const message of added) prefix.source.push(message);
  for (const message of settled) prefix.settled.push(message);
  for (const name of namesIn(settled)) prefix.names.add(name);
  prefix.open = part.open;
  prefix.end = part;
}

/** Places at which another speaker begins, the last ones first. A place inside a tool round does not qualify later. */
function* cutsIn(
  messages: readonly ModelMessage[],
  start: number,
  stableCount: number,
): Generator<number> {
  let tried = 0;
  for (let cut = Math.min(stableCount, messages.length - 1); cut > start; cut--) {
    const next = messages[cut]?.blocks.find(isSpoken);
    const before = messages[cut - 1]?.blocks.findLast(isSpoken);
    if (next === undefined || before === undefined) continue;
    yield cut;
    if (++tried === MAX_TRIED_CUTS) return;
  }
}

function isSpoken(block: ModelBlock): boolean {
  return !isBlank(block);
}

/** A turn that ends with a tool result has its last clean place before the call of that tool. */
const MAX_TRIED_CUTS = 8;

function namesIn(messages: readonly ModelMessage[]): Set<string> {
  const names = new Set<string>();
  for (const { blocks } of messages)
    for (const block of blocks) if (block.type === "call") names.add(block.call.name);
  return names;
}
