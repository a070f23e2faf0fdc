import type { JsonObject } from "../../data/json.ts";
import type { ModelMessage } from "../../domain/model/model-request.ts";
import { readChatRequest, type ChatRequest } from "../chat-server/chat-request.ts";
import {
  toChatHistory,
  readChatTurn,
  toPromptTexts,
  type ChatTurn,
} from "../chat-server/chat-turn.ts";
import { rejectRequest } from "../chat-server/reject-request.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The request of AI GO! for each turn: the whole conversation. Messages may have additional fields. */
export interface ChatCompletionInput {
  readonly messages: readonly ChatCompletionMessage[];
  readonly [field: string]: unknown;
}

export interface ChatCompletionMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

/** The input of the agent for one turn. */
export interface ModelInput {
  /** Empty on the first turn. */
  readonly session_id: string;
  readonly user_message: string;
  /** The text of system messages. Absent if none. */
  readonly instructions?: string;
  /** The earlier conversation, for an agent without this history. */
  readonly history?: readonly ModelMessage[];
  /** State attached to the last assistant message, returned with the next message. */
  readonly state?: JsonObject;
  /** Fields of the request without effect. */
  readonly ignored?: readonly string[];
}

export interface InputOptions {
  /**
   * How to handle earlier messages without a session: send them to the agent (`replay`), refuse the request (`reject`),
   * or drop them (`ignore`). Default: `replay`.
   */
  readonly history?: "replay" | "reject" | "ignore";
  /** False for an agent without memory: every request includes the history. Default: true. */
  readonly keepsHistory?: boolean;
}

/**
 * Stage 1 of an AI GO! connector: reads the request. Throws `invalid_message` with `param` and `code` in its details if
 * the request is refused.
 */
export function convertUserInput(
  data: ChatCompletionInput,
  options: InputOptions = {},
): ModelInput {
  const request = readChatRequest(data);
  const turn = readChatTurn(request);
  const history = toChatHistory(turn.earlierMessages);
  rejectResults(turn);
  // Only a session counts the budget of a turn.
  const budget = request.budget === undefined ? [] : ["budget"];
  const ignored = [...budget, ...listIneffectiveFields(request)];
  return {
    session_id: turn.sessionId ?? "",
    user_message: toPromptTexts(turn.userMessages).join("\n\n"),
    ...omitUndefined({ instructions: turn.instructions }),
    ...(history.length > 0 && shouldReplayHistory(turn, options) && { history }),
    ...(Object.keys(turn.state).length > 0 && { state: turn.state }),
    ...(ignored.length > 0 && { ignored }),
  };
}

/** Refuses tool results: agents on this path run their own tools. */
export function rejectResults({ results }: Pick<ChatTurn, "results">): void {
  const [result] = results;
  if (result === undefined) return;
  const param = `messages[${result.index}]`;
  const message = `${param} is a tool result: agents on this endpoint run their own tools`;
  rejectRequest(param, "unsupported_content", message);
}

/** An agent with a session has the history; sending it again would duplicate the messages. */
function shouldReplayHistory(
  { sessionId, earlierMessages }: ChatTurn,
  { history = "replay", keepsHistory = true }: InputOptions,
): boolean {
  if (sessionId !== null) return !keepsHistory;
  if (history !== "reject") return history === "replay";
  const message =
    'The conversation has earlier messages without a session, and history is "reject". Fix: start a new conversation';
  return rejectRequest(
    `messages[${earlierMessages[0]?.index ?? 0}]`,
    "missing_required_parameter",
    message,
  );
}

/** Lists the fields without effect. An agent has its own tools and limits. */
export function listIneffectiveFields(request: ChatRequest): readonly string[] {
  const { ignored, tools, toolChoice, maxTokens } = request;
  return [
    ...(tools.length > 0 ? ["tools"] : []),
    ...(toolChoice === "auto" ? [] : ["tool_choice"]),
    ...(maxTokens === undefined ? [] : ["max_tokens"]),
    ...ignored,
  ];
}
