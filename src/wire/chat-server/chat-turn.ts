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

/** The new content of a request, and its conversation. */
export interface ChatTurn {
  /** Null if no session is named: the conversation is new to Spanline. */
  readonly sessionId: string | null;
  /** All user messages after the last assistant message, in order. */
  readonly userMessages: readonly UserMessage[];
  /** Results of tool calls the agent waits for. */
  readonly results: readonly ResultMessage[];
  /** Messages before the new messages. Needed only for a session without this history. */
  readonly earlierMessages: readonly ConversationMessage[];
  readonly instructions?: string;
  /** State attached to the last assistant message, returned with the next response. */
  readonly state: JsonObject;
}

export type ConversationMessage = Exclude<ChatMessage, InstructionsMessage>;

export interface ChatTurnOptions {
  /** Returns the session of a tool call by the id known to the client. Undefined for tool calls of other systems. */
  readonly findSession?: (callId: string) => string | undefined;
  /** Whether the session must be opened. Default: true if no session is named. */
  readonly isNew?: boolean;
}

/**
 * Reads the new content of a request. Throws if the request has no new message, or new content without a matching
 * session: old messages are never sent again.
 */
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

/** Returns the last assistant message as sent back by the client. */
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
      "messages has no user message. Fix: add a message with the role user",
    );
  }
  if (newMessages.length > 0) return;
  const message =
    "The last message is an assistant message, so the request has no new message. Fix: add a user message after it";
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
      rejectRequest(
        param,
        "duplicate_result",
        `${param} refers to a tool call which already has a result`,
      );
    }
    answeredCallIds.add(callId);
    if (knownCallIds.has(callId) || findSession?.(callId) !== undefined) continue;
    rejectRequest(
      param,
      "unknown_call",
      `${param} does not match a tool call of the last assistant message`,
    );
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

/** Tool calls made by other systems are history together with their results; a user message must follow. */
function splitNewSession(conversation: readonly ConversationMessage[]): SplitConversation {
  const start = conversation.findLastIndex(({ type }) => type !== "user") + 1;
  const userMessages = conversation.slice(start).filter((message) => message.type === "user");
  const last = conversation.at(-1);
  if (last?.type === "result") {
    const param = `messages[${last.index}].tool_call_id`;
    rejectRequest(param, "unknown_call", `${param} refers to a tool call of another system`);
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
  return rejectRequest(param, "empty_message", `${param} is empty: expected some text`);
}

/** Converts user messages to the parts of a prompt. The session checks whether its agent supports images. */
export function toChatPromptParts(userMessages: readonly UserMessage[]): SubmittedPart[] {
  return userMessages.flatMap(({ parts }) =>
    parts.some(({ type }) => type === "image") ? parts : [{ type: "text", text: joinText(parts) }],
  );
}

/** Converts user messages for an agent without image support: one string per message. */
export function toPromptTexts(userMessages: readonly UserMessage[]): string[] {
  return userMessages.map(({ parts, index }) => {
    const imageIndex = parts.findIndex(({ type }) => type === "image");
    if (imageIndex === -1) return joinText(parts);
    const param = `messages[${index}].content[${imageIndex}]`;
    return rejectRequest(
      param,
      "unsupported_content",
      `${param} is an image: the agent accepts text only`,
    );
  });
}

/**
 * Converts the results for a session: exactly one for each open tool call. Some clients send each result directly after
 * its tool call, so results before the last message count if their tool call is still open.
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
    return rejectRequest(
      param,
      "unknown_call",
      `${param} does not match a tool call that waits for a result`,
    );
  });
  const missingId = toolCallIds.find(
    (id) => !toolResults.some(({ toolCallId }) => toolCallId === id),
  );
  if (missingId === undefined) return toolResults;
  const cancelHint =
    seq === undefined ? "" : `, or end the turn: ${formatCancelPath({ sessionId, seq })}`;
  const message = `The tool call "${formatCallId(sessionId, missingId)}" has no result; send the results of all open tool calls${cancelHint}`;
  return rejectRequest("messages", "missing_result", message);
}

/** Converts earlier messages to a history, for an agent without these messages. */
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
