import type { ModelMessage } from "../../domain/model/model-request.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";
import type { Turn } from "../../domain/provider/turn.ts";
import type { AnsweredToolCall, TurnProgress } from "../provider.ts";

/** The messages of a conversation known to this process. */
export interface Conversation {
  messages: readonly ModelMessage[];
  /** The number of first messages that never change. */
  stableCount: number;
  /** The last message of the agent. An invocation with tool results contains the same message again. */
  lastMessages: readonly ModelMessage[];
  /** The number of messages before the last prompt. */
  turnStart: number;
}

export interface ConversationCache {
  /** Resumes or starts a conversation. `history` replaces the cached messages if given. */
  open(id: string, history: readonly ModelMessage[] | undefined, stableCount: number): Conversation;
}

/** Caches the most recently opened conversations, for callers which do not pass a history. */
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

/** The agent's messages of a turn for its history. Tool calls that were not run and never will be are removed. */
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

/** Drops messages with an unknown role, which must not be attributed to the user or the agent. */
export function dropUnknownRoles(messages: Turn["messages"]): ModelMessage[] {
  return messages.flatMap(({ role, blocks }) => (role === "other" ? [] : [{ role, blocks }]));
}

/** Derives the progress of a turn from its messages, for callers which do not track it. */
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
