import type { ModelMessage } from "../../domain/model-request.ts";
import type { ToolCall } from "../../domain/tool.ts";
import type { Turn } from "../../domain/turn.ts";
import type { AnsweredCall, TurnProgress } from "../provider.ts";

/** What was said so far, as far as it is known here. */
export interface Conversation {
  messages: readonly ModelMessage[];
  /** How many of the first messages never change. */
  stableCount: number;
  /** The last answer, which a call that brings results brings again. */
  answer: readonly ModelMessage[];
  /** How many of the messages were there before the last prompt. */
  turnStart: number;
}

export interface Conversations {
  /** Takes up a conversation, or begins one, with what was said before, where the caller knows it. */
  open(id: string, history: readonly ModelMessage[] | undefined, stableCount: number): Conversation;
}

/** Remembers the conversations that were opened last, for callers who do not bring them along. */
export function conversations(most: number): Conversations {
  const known = new Map<string, Conversation>();
  return {
    open(id, history, stableCount) {
      const before = history === undefined ? known.get(id) : begun(history, stableCount);
      const conversation = before ?? begun([], 0);
      known.delete(id);
      known.set(id, conversation);
      for (const oldest of known.keys()) {
        if (known.size <= most) break;
        known.delete(oldest);
      }
      return conversation;
    },
  };
}

function begun(history: readonly ModelMessage[], stableCount: number): Conversation {
  return { messages: history, stableCount, answer: [], turnStart: history.length };
}

/** What an agent said in a turn, for its history. What it wanted to call, and nobody ran or will, is not part of that. */
export function saidIn({ messages, calls, serverCalls }: Turn): ModelMessage[] {
  const kept = new Set([...calls, ...serverCalls.map(({ call }) => call)].map(({ id }) => id));
  return spokenIn(messages).map(({ role, blocks }) => ({
    role,
    blocks: blocks.filter((block) => block.type !== "call" || kept.has(block.call.id)),
  }));
}

/** Messages of a speaker that nobody knows are put into nobody's mouth. */
export function spokenIn(messages: Turn["messages"]): ModelMessage[] {
  return messages.flatMap(({ role, blocks }) => (role === "other" ? [] : [{ role, blocks }]));
}

/** Where a turn stands that nobody else keeps book of. */
export function progressIn(messages: readonly ModelMessage[]): TurnProgress {
  const calls = new Map<string, ToolCall>();
  const answered: AnsweredCall[] = [];
  for (const block of messages.flatMap(({ blocks }) => blocks)) {
    if (block.type === "call") calls.set(block.call.id, block.call);
    if (block.type !== "result") continue;
    const call = calls.get(block.result.callId);
    if (call !== undefined) answered.push({ call, result: block.result });
  }
  return { callsLeft: Infinity, answered };
}
