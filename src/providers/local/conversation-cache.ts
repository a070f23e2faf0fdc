import type { ModelMessage } from "../../domain/model/model-request.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";
import type { Turn } from "../../domain/provider/turn.ts";
import type { AnsweredToolCall, TurnProgress } from "../provider.ts";

/** What was said so far, as far as it is known here. */
export interface Conversation {
  messages: readonly ModelMessage[];
  /** How many of the first messages never change. */
  stableCount: number;
  /** The last answer, which a call that brings results brings again. */
  lastMessages: readonly ModelMessage[];
  /** How many of the messages were there before the last prompt. */
  turnStart: number;
}

export interface ConversationCache {
  /** Takes up a conversation, or begins one, with what was said before, where the caller knows it. */
  open(id: string, history: readonly ModelMessage[] | undefined, stableCount: number): Conversation;
}

/** Remembers the conversations that were opened last, for callers who do not bring them along. */
export function createConversationCache(maxCount: number): ConversationCache {
  const cache = new Map<string, Conversation>();
  return {
    open(id, history, stableCount) {
      const existing =
        history === undefined ? cache.get(id) : createConversation(history, stableCount);
      const conversation = existing ?? createConversation([], 0);
      cache.delete(id);
      cache.set(id, conversation);
      for (const oldest of cache.keys()) {
        if (cache.size <= maxCount) break;
        cache.delete(oldest);
      }
      return conversation;
    },
  };
}

function createConversation(history: readonly ModelMessage[], stableCount: number): Conversation {
  return { messages: history, stableCount, lastMessages: [], turnStart: history.length };
}

/** What an agent said in a turn, for its history. What it wanted to call, and nobody ran or will, is not part of that. */
export function collectAgentMessages({
  messages,
  toolCalls,
  serverToolCalls,
}: Turn): ModelMessage[] {
  const knownCallIds = new Set(
    [...toolCalls, ...serverToolCalls.map(({ toolCall }) => toolCall)].map(({ id }) => id),
  );
  return dropUnknownRoles(messages).map(({ role, blocks }) => ({
    role,
    blocks: blocks.filter(
      (block) => block.type !== "tool-call" || knownCallIds.has(block.toolCall.id),
    ),
  }));
}

/** Messages of a speaker that nobody knows are put into nobody's mouth. */
export function dropUnknownRoles(messages: Turn["messages"]): ModelMessage[] {
  return messages.flatMap(({ role, blocks }) => (role === "other" ? [] : [{ role, blocks }]));
}

/** Where a turn stands that nobody else keeps book of. */
export function deriveTurnProgress(messages: readonly ModelMessage[]): TurnProgress {
  const calls = new Map<string, ToolCall>();
  const answeredToolCalls: AnsweredToolCall[] = [];
  for (const block of messages.flatMap(({ blocks }) => blocks)) {
    if (block.type === "tool-call") calls.set(block.toolCall.id, block.toolCall);
    if (block.type !== "tool-result") continue;
    const call = calls.get(block.result.toolCallId);
    if (call !== undefined) answeredToolCalls.push({ toolCall: call, result: block.result });
  }
  return { remainingInvocations: Infinity, answeredToolCalls };
}
