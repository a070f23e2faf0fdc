import { isBlank, canSplitBetween, type ModelBlock, type ModelMessage } from "./model-request.ts";
import {
  startWithUser,
  NO_TOOL_CALL_IDS,
  normalizeHistory,
  normalizePart,
  type NormalizedPart,
} from "./normalize-history.ts";

/** The messages of `settledMessages`, of which the first are the same objects as the time before. */
export interface NormalizedHistory {
  readonly messages: readonly ModelMessage[];
  /** How many of the messages come from the stable part of the conversation. */
  readonly stableCount: number;
  /** Names of all tools that were called, each once, in the order of their first call. */
  listCalledTools(): readonly string[];
}

/**
 * Settles a conversation whose first `stableCount` messages are the same, unchanged objects every time. Costs as much as
 * the messages since the last time.
 */
export type NormalizeHistory = (
  messages: readonly ModelMessage[],
  stableCount: number,
) => NormalizedHistory;

/** Creates a cache of settled conversations. A conversation stays cached for as long as its first message is reachable. */
export function createHistoryNormalizer(): NormalizeHistory {
  const prefixes = new WeakMap<ModelMessage, Prefix>();
  return (messages, stableCount) => {
    const [first] = messages;
    if (first === undefined || stableCount === 0) return normalizeWhole(messages);
    const cachedPrefixes = prefixes.get(first);
    const reused =
      cachedPrefixes !== undefined && isPrefix(cachedPrefixes, messages, stableCount)
        ? cachedPrefixes
        : null;
    const settled =
      reused === null ? undefined : normalizeAfterPrefix(reused, messages, stableCount);
    if (settled !== undefined) return settled;
    const prefix = emptyPrefix();
    prefixes.set(first, prefix);
    return normalizeAfterPrefix(prefix, messages, stableCount) ?? normalizeWhole(messages);
  };
}

/** The settled form of the first messages of a conversation. Grows; its messages are never replaced. */
interface Prefix {
  readonly source: ModelMessage[];
  readonly normalized: ModelMessage[];
  readonly names: Set<string>;
  openToolCallIds: ReadonlySet<string>;
  end: Pick<NormalizedPart, "last" | "lastRole"> | null;
}

function emptyPrefix(): Prefix {
  return {
    source: [],
    normalized: [],
    names: new Set(),
    openToolCallIds: NO_TOOL_CALL_IDS,
    end: null,
  };
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

function normalizeWhole(messages: readonly ModelMessage[]): NormalizedHistory {
  const settled = normalizeHistory(messages);
  return {
    messages: settled,
    stableCount: 0,
    listCalledTools: () => [...collectToolNames(settled)],
  };
}

/** Undefined if the messages after the prefix cannot be settled apart from it. */
function normalizeAfterPrefix(
  prefix: Prefix,
  messages: readonly ModelMessage[],
  stableCount: number,
): NormalizedHistory | undefined {
  const start = prefix.source.length;
  for (const cut of listCuts(messages, start, stableCount)) {
    const added = messages.slice(start, cut);
    const stable = normalizePart(added, prefix.openToolCallIds);
    const suffix = normalizePart(messages.slice(cut), stable.openToolCallIds);
    if (!canFollow(prefix.end, stable) || !canFollow(stable, suffix)) continue;
    growPrefix(prefix, added, stable);
    return createHistory(prefix, suffix);
  }
  const suffix = normalizePart(messages.slice(start), prefix.openToolCallIds);
  return prefix.end !== null && canFollow(prefix.end, suffix)
    ? createHistory(prefix, suffix)
    : undefined;
}

function createHistory(
  { normalized, names }: Prefix,
  { messages: suffixMessages }: NormalizedPart,
): NormalizedHistory {
  return {
    messages: [...normalized, ...suffixMessages],
    stableCount: normalized.length,
    listCalledTools: () => [...new Set([...names, ...collectToolNames(suffixMessages)])],
  };
}

function canFollow(previousEnd: Prefix["end"], nextPart: NormalizedPart): boolean {
  return (
    !nextPart.answersEarlier && (previousEnd === null || canSplitBetween(previousEnd, nextPart))
  );
}

function growPrefix(prefix: Prefix, added: readonly ModelMessage[], part: NormalizedPart): void {
  const settled = prefix.normalized.length === 0 ? startWithUser(part.messages) : part.messages;
  for (const message of added) prefix.source.push(message);
  for (const message of settled) prefix.normalized.push(message);
  for (const name of collectToolNames(settled)) prefix.names.add(name);
  prefix.openToolCallIds = part.openToolCallIds;
  prefix.end = part;
}

/** Places at which another speaker begins, the last ones first. A place inside a tool round does not qualify later. */
function* listCuts(
  messages: readonly ModelMessage[],
  start: number,
  stableCount: number,
): Generator<number> {
  let tried = 0;
  for (let cut = Math.min(stableCount, messages.length - 1); cut > start; cut--) {
    const next = messages[cut]?.blocks.find(isSpoken);
    const previousBlock = messages[cut - 1]?.blocks.findLast(isSpoken);
    if (next === undefined || previousBlock === undefined) continue;
    yield cut;
    if (++tried === MAX_CUT_ATTEMPTS) return;
  }
}

function isSpoken(block: ModelBlock): boolean {
  return !isBlank(block);
}

/** A turn that ends with a tool result has its last clean place before the call of that tool. */
const MAX_CUT_ATTEMPTS = 8;

function collectToolNames(messages: readonly ModelMessage[]): Set<string> {
  const names = new Set<string>();
  for (const { blocks } of messages)
    for (const block of blocks) if (block.type === "tool-call") names.add(block.toolCall.name);
  return names;
}
