import { isBlank, canSplitBetween, type ModelBlock, type ModelMessage } from "./model-request.ts";
import {
  startWithUser,
  NO_TOOL_CALL_IDS,
  normalizeHistory,
  normalizePart,
  type NormalizedPart,
} from "./normalize-history.ts";

/** A normalized conversation. Its first messages are the same objects as in the previous call. */
export interface NormalizedHistory {
  readonly messages: readonly ModelMessage[];
  /** Number of messages derived from the stable part of the conversation. */
  readonly stableCount: number;
  /** Names of all called tools, each once, in order of the first call. */
  listCalledTools(): readonly string[];
}

/**
 * Normalizes a conversation whose first `stableCount` messages are the same unchanged objects in every call. The cost
 * is proportional to the messages added since the last call.
 */
export type NormalizeHistory = (
  messages: readonly ModelMessage[],
  stableCount: number,
) => NormalizedHistory;

/** Creates a cache of normalized conversations. A conversation stays cached while its first message is reachable. */
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

/** The normalized beginning of a conversation. The prefix only grows; its messages are never replaced. */
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

/** Compares by identity: any change of the history creates new objects. */
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

/** Undefined if the messages after the prefix cannot be normalized separately from it. */
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

/**
 * Yields positions at which the speaker changes, from the end. A position inside a tool round will not qualify later
 * either.
 */
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

/** Limits the search: a turn which ends with a tool result has its last usable position before the call of the tool. */
const MAX_CUT_ATTEMPTS = 8;

function collectToolNames(messages: readonly ModelMessage[]): Set<string> {
  const names = new Set<string>();
  for (const { blocks } of messages)
    for (const block of blocks) if (block.type === "tool-call") names.add(block.toolCall.name);
  return names;
}
