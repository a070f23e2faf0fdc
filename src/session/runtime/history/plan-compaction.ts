import {
  estimateMessagesTokens,
  estimateMessageTokens,
  type CountedMessage,
} from "../../../domain/transcript/estimate-tokens.ts";
import type {
  CompactionPolicy,
  CompactionStrategy,
} from "../../../domain/transcript/compaction.ts";

/** The parts of a conversation on which its cuts depend. */
interface PlannedConversation {
  readonly messages: readonly CountedMessage[];
  readonly pending: CountedMessage["blocks"];
  readonly openToolCallIds: readonly string[];
}

/** Which messages a compaction archives: those after the first `keptHead`, up to `end`. */
export interface CompactionPlan {
  readonly keptHead: number;
  readonly end: number;
}

/** Undefined if no message can be archived. */
export function planCompaction(
  conversation: PlannedConversation,
  { strategy, keepLast }: Pick<CompactionPolicy, "strategy" | "keepLast">,
): CompactionPlan | undefined {
  const { messages } = conversation;
  const isCut = listCuts(conversation);
  const keptHead = strategy === "summarize_middle" ? findHead(messages, isCut) : 0;
  const wanted = messages.length - COUNT_KEPT[strategy](keepLast);
  const end = isCut.lastIndexOf(true, wanted);
  // A single archived message would be replaced by another message.
  return wanted < 0 || end - keptHead < MIN_ARCHIVED ? undefined : { keptHead, end };
}

const COUNT_KEPT: { readonly [Name in CompactionStrategy]: (keepLast: number) => number } = {
  none: () => Infinity,
  truncate: (keepLast) => keepLast,
  summarize_middle: (keepLast) => keepLast,
  summarize_all: () => 0,
  hybrid: (keepLast) => keepLast,
};

const MIN_ARCHIVED = 2;

/** Extends a plan until the kept messages have at most `limit` tokens, or no more message can be archived. */
export function extendPlan(
  conversation: PlannedConversation,
  { keptHead, end }: CompactionPlan,
  limit: number,
): CompactionPlan {
  const { messages, pending } = conversation;
  const isCut = listCuts(conversation);
  const pendingTokens = estimateMessagesTokens([{ role: "user", blocks: pending }]);
  let tokens =
    pendingTokens +
    estimateMessagesTokens(messages.slice(0, keptHead)) +
    estimateMessagesTokens(messages.slice(end));
  let extended = end;
  for (let index = end; index < messages.length && tokens > limit; index++) {
    const message = messages[index];
    if (message !== undefined) tokens -= estimateMessageTokens(message);
    if (isCut[index + 1] === true) extended = index + 1;
  }
  return { keptHead, end: extended };
}

/**
 * Returns for each position whether the conversation can be cut before the message at this position. No cut separates a
 * tool call from its result, or starts inside the reasoning and tool calls which the next request continues.
 */
export function listCuts({ messages, pending, openToolCallIds }: PlannedConversation): boolean[] {
  const isCut = Array.from({ length: messages.length + 1 }, () => true);
  const block = (first: number, last: number): void => {
    isCut.fill(false, first, last + 1);
  };
  const openCalls = new Map<string, number>();
  messages.forEach(({ blocks }, index) => {
    for (const part of blocks) {
      if (part.type === "tool-call") openCalls.set(part.toolCall.id, index);
      if (part.type !== "tool-result") continue;
      const start = openCalls.get(part.result.toolCallId);
      openCalls.delete(part.result.toolCallId);
      if (start !== undefined) block(start + 1, index);
    }
  });
  const isContinued = openToolCallIds.length > 0 || pending.some(isToolResult);
  // The last response waits for its results, whose ids may differ from those of the session.
  if (isContinued) block(findSuffixStart(messages) + 1, messages.length);
  return isCut;
}

/** The first message which the next request must contain unchanged while tool calls are open. */
function findSuffixStart(messages: readonly CountedMessage[]): number {
  const lastResponse = messages.findLastIndex(({ role }) => role === "assistant");
  const prompt = messages.findLastIndex(isPrompt);
  const reasoning = messages.findIndex(
    ({ blocks }, index) => index > prompt && blocks.some(({ type }) => type === "reasoning"),
  );
  const start = reasoning === -1 ? lastResponse : Math.min(reasoning, lastResponse);
  return Math.max(0, start);
}

function isPrompt({ role, blocks }: CountedMessage): boolean {
  return role === "user" && !blocks.some(isToolResult);
}

function isToolResult({ type }: CountedMessage["blocks"][number]): boolean {
  return type === "tool-result";
}

/** The first prompt stays with `summarize_middle`, because it usually states the goal. */
function findHead(messages: readonly CountedMessage[], isCut: readonly boolean[]): number {
  const head = messages.findIndex(isPrompt) + 1;
  return isCut[head] === true ? head : 0;
}

/**
 * Replaces the archived messages by a text. The text joins a neighbour of the user, because roles alternate. Returns
 * the position at which each kept message after the archived ones is found: `end + shift`.
 */
export function replaceArchived(
  messages: readonly CountedMessage[],
  { keptHead, end }: CompactionPlan,
  text: string,
): { readonly messages: readonly CountedMessage[]; readonly shift: number } {
  const head = messages.slice(0, keptHead);
  const tail = messages.slice(end);
  const note = { type: "text", text } as const;
  const previous = head.at(-1);
  if (previous?.role === "user") head.pop();
  const [next] = tail;
  if (next?.role === "user") tail.shift();
  const joined = {
    role: "user",
    blocks: [
      ...(previous?.role === "user" ? previous.blocks : []),
      note,
      ...(next?.role === "user" ? next.blocks : []),
    ],
  } as const;
  const isJoined = next?.role === "user";
  return {
    messages: [...head, joined, ...tail],
    shift: head.length + (isJoined ? 0 : 1) - end,
  };
}
