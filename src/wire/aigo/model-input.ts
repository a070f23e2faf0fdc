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

/** What AI GO! sends for each turn: the whole conversation. Messages may have any further fields. */
export interface ChatCompletionInput {
  readonly messages: readonly ChatCompletionMessage[];
  readonly [field: string]: unknown;
}

export interface ChatCompletionMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [field: string]: unknown;
}

/** What the agent needs of it. */
export interface ModelInput {
  /** Empty on the first turn. */
  readonly session_id: string;
  readonly user_message: string;
  /** What messages of the system say. */
  readonly instructions?: string;
  /** What was said in a conversation that the agent does not know. */
  readonly history?: readonly ModelMessage[];
  /** What was attached to the assistant's last message beside the session, to be attached to the next. */
  readonly state?: JsonObject;
  /** Fields of the request that have no effect. */
  readonly ignored?: readonly string[];
}

export interface InputOptions {
  /**
   * What becomes of a conversation without a session: the agent is told of it (`replay`, unless said otherwise), it is
   * refused, or only what is new in it counts.
   */
  readonly history?: "replay" | "reject" | "ignore";
  /** `false` for an agent that remembers nothing: it is told of every conversation. */
  readonly keepsHistory?: boolean;
}

/** The first stage. Throws an `invalid_message` with `param` and `code` in its details where nothing can be sent. */
export function convertUserInput(
  data: ChatCompletionInput,
  options: InputOptions = {},
): ModelInput {
  const request = readChatRequest(data);
  const turn = readChatTurn(request);
  const history = toChatHistory(turn.earlierMessages);
  rejectResults(turn);
  const ignored = listIneffectiveFields(request);
  return {
    session_id: turn.sessionId ?? "",
    user_message: toPromptTexts(turn.userMessages).join("\n\n"),
    ...omitUndefined({ instructions: turn.instructions }),
    ...(history.length > 0 && shouldReplayHistory(turn, options) && { history }),
    ...(Object.keys(turn.state).length > 0 && { state: turn.state }),
    ...(ignored.length > 0 && { ignored }),
  };
}

/** Results of tools are the agent's own. */
export function rejectResults({ results }: Pick<ChatTurn, "results">): void {
  const [result] = results;
  if (result === undefined) return;
  const param = `messages[${result.index}]`;
  const message = `${param} is the result of a tool, which agents here run themselves`;
  rejectRequest(param, "unsupported_content", message);
}

/** An agent that has a session has its history, too: told once more, it would have it twice. */
function shouldReplayHistory(
  { sessionId, earlierMessages }: ChatTurn,
  { history = "replay", keepsHistory = true }: InputOptions,
): boolean {
  if (sessionId !== null) return !keepsHistory;
  if (history !== "reject") return history === "replay";
  const message =
    "The conversation began elsewhere, and the agent is not to be told of it; begin a new one";
  return rejectRequest(
    `messages[${earlierMessages[0]?.index ?? 0}]`,
    "missing_required_parameter",
    message,
  );
}

/** An agent has its own tools and limits. */
export function listIneffectiveFields(request: ChatRequest): readonly string[] {
  const { ignored, tools, toolChoice, maxTokens } = request;
  return [
    ...(tools.length > 0 ? ["tools"] : []),
    ...(toolChoice === "auto" ? [] : ["tool_choice"]),
    ...(maxTokens === undefined ? [] : ["max_tokens"]),
    ...ignored,
  ];
}
