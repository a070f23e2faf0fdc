import type { JsonObject } from "../../data/json.ts";
import type { ModelBlock, ModelMessage } from "../../domain/model/model-request.ts";
import type { SubmittedPart, SubmittedResult } from "../../domain/session-command.ts";
import {
  joinText,
  type AssistantMessage,
  type ChatMessage,
  type InstructionsMessage,
  type ResultMessage,
  type UserMessage,
} from "./chat-message.ts";
import { formatCallId, findToolCallId, formatCancelPath } from "../responses/response-ids.ts";
import type { OpenToolCalls } from "../responses/request/tool-results.ts";
import type { ChatRequest } from "./chat-request.ts";
import { resolveSingleSession } from "./read-session-id.ts";
import { rejectRequest } from "./reject-request.ts";

/** What of a request is new for the agent, and to which conversation it belongs. */
export interface ChatTurn {
  /** Null where nothing names one: then the conversation is new here. */
  readonly sessionId: string | null;
  /** Everything that the user said since the agent last spoke, in order. */
  readonly userMessages: readonly UserMessage[];
  /** Results of calls that the agent waits for. */
  readonly results: readonly ResultMessage[];
  /** What was said before that, which only a session that does not have it needs. */
  readonly earlierMessages: readonly ConversationMessage[];
  readonly instructions?: string;
  /** What somebody attached to the assistant's last message, to be given back with the next. */
  readonly state: JsonObject;
}

export type ConversationMessage = Exclude<ChatMessage, InstructionsMessage>;

export interface ChatTurnOptions {
  /** The session that a call was made in, by the id that the client has of it; undefined for those of others. */
  readonly findSession?: (callId: string) => string | undefined;
  /** Whether the session still has to be opened; where nobody says so, it has if none is named. */
  readonly isNew?: boolean;
}

/** Throws where nothing is new, or what is new belongs nowhere: an old message is never said again. */
export function readChatTurn(request: ChatRequest, options: ChatTurnOptions = {}): ChatTurn {
  const { findSession } = options;
  const { messages } = request;
  const conversation = messages.filter((message) => message.type !== "instructions");
  const last = conversation.findLastIndex(({ type }) => type === "assistant");
  const lastAssistantMessage = findLastAssistantMessage(request);
  const newMessages = conversation.slice(last + 1);
  const results = newMessages.filter((message) => message.type === "result");
  checkHasNewMessage(conversation, newMessages);
  checkResults(results, lastAssistantMessage, findSession);
  const sessionId = resolveSingleSession([
    ...request.sessions,
    ...results.flatMap(({ callId, index }) => {
      const id = findSession?.(callId);
      return id === undefined ? [] : [{ id, param: `messages[${index}].tool_call_id` }];
    }),
  ]);
  const instructionTexts = messages.flatMap((message) =>
    message.type === "instructions" ? [message.text] : [],
  );
  const instructions = instructionTexts.filter((text) => text.trim() !== "").join("\n\n");
  const isNew = options.isNew ?? sessionId === null;
  return {
    sessionId,
    ...(isNew
      ? splitNewSession(conversation)
      : splitExistingSession(newMessages, conversation.slice(0, last + 1))),
    ...(instructions !== "" && { instructions }),
    state: lastAssistantMessage?.state ?? {},
  };
}

/** What the agent said last, as the client sent it back. */
export function findLastAssistantMessage({ messages }: ChatRequest): AssistantMessage | undefined {
  return messages.findLast((message) => message.type === "assistant");
}

function checkHasNewMessage(
  conversation: readonly ConversationMessage[],
  newMessages: readonly ConversationMessage[],
): void {
  if (!conversation.some(({ type }) => type === "user" || type === "result")) {
    rejectRequest(
      "messages",
      "missing_user_message",
      "messages has none of the user's; say something",
    );
  }
  if (newMessages.length > 0) return;
  const message =
    "The last message is the assistant's, so that nothing is new; say something behind it";
  rejectRequest(`messages[${conversation.at(-1)?.index ?? 0}]`, "no_new_message", message);
}

function checkResults(
  results: readonly ResultMessage[],
  lastAssistantMessage: AssistantMessage | undefined,
  findSession: ChatTurnOptions["findSession"],
): void {
  const knownCallIds = new Set(lastAssistantMessage?.toolCalls.map(({ id }) => id));
  const answeredCallIds = new Set<string>();
  for (const { callId, index } of results) {
    const param = `messages[${index}].tool_call_id`;
    if (answeredCallIds.has(callId)) {
      rejectRequest(param, "duplicate_result", `${param} names a call that has its result already`);
    }
    answeredCallIds.add(callId);
    if (knownCallIds.has(callId) || findSession?.(callId) !== undefined) continue;
    rejectRequest(param, "unknown_call", `${param} names no call of the assistant's last message`);
  }
}

type SplitConversation = Pick<ChatTurn, "userMessages" | "results" | "earlierMessages">;

function splitExistingSession(
  newMessages: readonly ConversationMessage[],
  earlierMessages: readonly ConversationMessage[],
): SplitConversation {
  const userMessages = newMessages.filter((message) => message.type === "user");
  return {
    userMessages: userMessages.map(requireContent),
    results: newMessages.filter((message) => message.type === "result"),
    earlierMessages,
  };
}

/** Calls that were made elsewhere are history with their results; something has to follow them. */
function splitNewSession(conversation: readonly ConversationMessage[]): SplitConversation {
  const start = conversation.findLastIndex(({ type }) => type !== "user") + 1;
  const userMessages = conversation.slice(start).filter((message) => message.type === "user");
  const last = conversation.at(-1);
  if (last?.type === "result") {
    const param = `messages[${last.index}].tool_call_id`;
    rejectRequest(param, "unknown_call", `${param} names a call that was not made here`);
  }
  return {
    userMessages: userMessages.map(requireContent),
    results: [],
    earlierMessages: conversation.slice(0, start),
  };
}

function requireContent(message: UserMessage): UserMessage {
  const { parts, index } = message;
  if (parts.some((part) => part.type !== "text" || part.text.trim() !== "")) return message;
  const param = `messages[${index}].content`;
  return rejectRequest(param, "empty_message", `${param} is empty; give it some text`);
}

/** What the user said, as a session takes it. Whether its agent takes pictures, the session knows. */
export function toChatPromptParts(userMessages: readonly UserMessage[]): SubmittedPart[] {
  return userMessages.flatMap(({ parts }) =>
    parts.some(({ type }) => type === "image") ? parts : [{ type: "text", text: joinText(parts) }],
  );
}

/** The same for an agent that takes text alone: one for each message. */
export function toPromptTexts(userMessages: readonly UserMessage[]): string[] {
  return userMessages.map(({ parts, index }) => {
    const imageIndex = parts.findIndex(({ type }) => type === "image");
    if (imageIndex === -1) return joinText(parts);
    const param = `messages[${index}].content[${imageIndex}]`;
    return rejectRequest(
      param,
      "unsupported_content",
      `${param} is a picture, and the agent takes text`,
    );
  });
}

/**
 * Results as a session takes them: of all calls that it waits for, each once. Some clients put every result behind its own
 * call, so that those before the last message count where their call is still open.
 */
export function toChatToolResults(
  { earlierMessages, results }: Pick<ChatTurn, "earlierMessages" | "results">,
  { sessionId, toolCallIds, seq }: OpenToolCalls,
): SubmittedResult[] {
  const findOpenCall = ({ callId }: ResultMessage): string | null =>
    findToolCallId(callId, sessionId, toolCallIds);
  const earlierResults = earlierMessages
    .filter((message) => message.type === "result")
    .filter((message) => findOpenCall(message) !== null);
  const toolResults = [...earlierResults, ...results].map((result): SubmittedResult => {
    const toolCallId = findOpenCall(result);
    if (toolCallId !== null) {
      return { toolCallId, parts: [{ type: "text", text: result.text }], isError: false };
    }
    const param = `messages[${result.index}].tool_call_id`;
    return rejectRequest(param, "unknown_call", `${param} names no call that waits for a result`);
  });
  const missingId = toolCallIds.find(
    (id) => !toolResults.some(({ toolCallId }) => toolCallId === id),
  );
  if (missingId === undefined) return toolResults;
  const cancelHint =
    seq === undefined ? "" : `, or end the turn: ${formatCancelPath({ sessionId, seq })}`;
  const message = `The call "${formatCallId(sessionId, missingId)}" has no result; send those of all open calls${cancelHint}`;
  return rejectRequest("messages", "missing_result", message);
}

/** What was said before, for an agent that does not know it. */
export function toChatHistory(earlierMessages: readonly ConversationMessage[]): ModelMessage[] {
  return earlierMessages.map((message): ModelMessage => {
    switch (message.type) {
      case "user":
        return { role: "user", blocks: message.parts };
      case "assistant": {
        const calls = message.toolCalls.map((toolCall): ModelBlock => ({
          type: "tool-call",
          toolCall,
        }));
        return { role: "assistant", blocks: [...message.parts, ...calls] };
      }
      case "result": {
        const { callId, text } = message;
        const result = {
          toolCallId: callId,
          parts: [{ type: "text", text } as const],
          isError: false,
        };
        return { role: "user", blocks: [{ type: "tool-result", result }] };
      }
      default:
        return message satisfies never;
    }
  });
}
