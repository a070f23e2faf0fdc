import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../data/json.ts";
import { JsonBudget } from "../../data/json-budget.ts";
import { formatValue } from "../../text/format-value.ts";
import { createToolCall, type ToolCall } from "../../domain/tools/tool-call.ts";
import { parseItemSession } from "../responses/response-ids.ts";
import {
  joinText,
  type ChatMessage,
  type ChatPart,
  type SessionReference,
} from "./chat-message.ts";
import { readChatContent, requireString } from "./read-chat-content.ts";
import { readSessionId } from "./read-session-id.ts";
import { rejectRequest, rejectType } from "./reject-request.ts";

export interface ChatMessages {
  readonly messages: readonly ChatMessage[];
  /** Session ids in assistant messages. */
  readonly sessions: readonly SessionReference[];
}

type Fields = { readonly [key: string]: unknown };

/** Validates the messages of a request. Messages may have additional fields. */
export function readChatMessages(value: unknown): ChatMessages {
  if (!Array.isArray(value)) return rejectType("messages", value, "a list of messages");
  if (value.length === 0)
    rejectRequest("messages", "missing_user_message", `messages is empty: ${NEXT_STEP}`);
  if (value.length > MAX_MESSAGES) {
    rejectRequest("messages", "too_large", `messages has more than ${MAX_MESSAGES} messages`);
  }
  const sessions: SessionReference[] = [];
  const budget = new JsonBudget();
  const messages = value.map((message: unknown, index) => {
    const param = `messages[${index}]`;
    if (!isObject(message)) return rejectType(param, message, "a message with a role");
    return readMessage(message, { index, param, sessions, budget });
  });
  return { messages, sessions };
}

const MAX_MESSAGES = 10_000;
const NEXT_STEP = "expected at least one user message";

interface MessagePosition {
  readonly index: number;
  readonly param: string;
  readonly sessions: SessionReference[];
  readonly budget: JsonBudget;
}

function readMessage(fields: Fields, position: MessagePosition): ChatMessage {
  const { index, param } = position;
  const { role, content } = fields;
  switch (role) {
    case "system":
    case "developer":
      return { type: "instructions", index, text: readTextContent(content, `${param}.content`) };
    case "user":
      return { type: "user", index, parts: readChatContent(content, `${param}.content`).parts };
    case "assistant":
      return readAssistant(fields, position);
    case "tool": {
      const callId = readId(fields["tool_call_id"], `${param}.tool_call_id`);
      return { type: "result", index, callId, text: readTextContent(content, `${param}.content`) };
    }
    default: {
      const message = `${param}.role is ${formatValue(role)}: expected system, developer, user, assistant or tool`;
      return rejectRequest(`${param}.role`, "invalid_value", message);
    }
  }
}

function readAssistant(fields: Fields, position: MessagePosition): ChatMessage {
  const { index, param, sessions, budget } = position;
  const { content } = fields;
  sessions.push(...readSessionId(fields["session_id"], `${param}.session_id`));
  let parts: readonly ChatPart[] = [];
  if (content !== undefined && content !== null) {
    const read = readChatContent(content, `${param}.content`);
    parts = read.parts;
    sessions.push(...read.sessions);
  }
  const toolCalls = readToolCalls(fields["tool_calls"], `${param}.tool_calls`, budget);
  const { id } = fields;
  const isOurs = typeof id === "string" && parseItemSession(id) !== null;
  const state = readState(fields, param);
  return { type: "assistant", index, parts, toolCalls, ...(isOurs && { id }), state };
}

function readToolCalls(value: unknown, param: string, budget: JsonBudget): ToolCall[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return rejectType(param, value, "a list of tool calls");
  return value.map((call: unknown, at) => {
    const callParam = `${param}[${at}]`;
    const expected = isObject(call) ? call["function"] : undefined;
    if (!isObject(call) || !isObject(expected)) {
      return rejectType(callParam, call, "a tool call with an id and a function");
    }
    const inputText = readArguments(expected["arguments"], callParam, budget);
    return createToolCall({
      id: readId(call["id"], `${callParam}.id`),
      name: readId(expected["name"], `${callParam}.function.name`),
      inputText,
      runBy: "client",
    });
  });
}

function readArguments(value: unknown, callParam: string, budget: JsonBudget): string {
  const param = `${callParam}.function.arguments`;
  const text = requireString(value ?? "", param);
  const limit = budget.spend(text);
  if (limit === undefined) return text;
  const message = `${param} exceeds the limit of ${limit} in the arguments of a request; send less`;
  return rejectRequest(param, "too_large", message);
}

function readTextContent(content: unknown, param: string): string {
  const { parts } = readChatContent(content, param);
  const at = parts.findIndex(({ type }) => type !== "text");
  if (at === -1) return joinText(parts);
  return rejectRequest(`${param}[${at}]`, "unsupported_content", `${param}[${at}] is not text`);
}

function readId(value: unknown, param: string): string {
  if (typeof value !== "string" || value === "")
    return rejectType(param, value, "a non-empty string");
  if (value.length <= MAX_ID_LENGTH) return value;
  return rejectRequest(param, "too_large", `${param} has more than ${MAX_ID_LENGTH} characters`);
}

const MAX_ID_LENGTH = 512;

/** Collects unknown fields as state, to be returned with the next response. */
function readState(fields: Fields, param: string): JsonObject {
  // Clients set unused fields to null.
  const entries = Object.entries(fields).filter(
    ([name, value]) => !KNOWN_FIELDS.has(name) && value !== null,
  );
  // Not an object literal: a key `__proto__` is data.
  const state = Object.fromEntries(entries) as { readonly [name: string]: JsonValue };
  if (entries.length === 0 || toJsonText(state).length <= MAX_STATE_LENGTH) return state;
  return rejectRequest(
    param,
    "too_large",
    `${param} has more than ${MAX_STATE_LENGTH} characters of state`,
  );
}

const MAX_STATE_LENGTH = 65_536;

/** Fields of an assistant message in chat completions and in our responses. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "name",
  "refusal",
  "tool_calls",
  "function_call",
  "audio",
  "annotations",
  "session_id",
  "id",
  "type",
  "status",
  "phase",
  "trace",
  "incomplete_details",
  "error",
  "anomalies",
  "ignored",
]);
