import type { BudgetCaps } from "../../domain/budget.ts";
import type { PromptOptions, PromptTool } from "../../domain/prompt.ts";
import { isObject } from "../../data/json.ts";
import { readBudget } from "../responses/request/body-fields.ts";
import type { ChatMessage, SessionReference } from "./chat-message.ts";
import { readChatMessages } from "./read-chat-messages.ts";
import { readSessionId } from "./read-session-id.ts";
import { readChatToolChoice, readChatTools, type ChatToolChoice } from "./read-chat-tools.ts";
import { rejectRequest, rejectType } from "./reject-request.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** A validated chat completion request. */
export interface ChatRequest {
  /** The name of the agent. Undefined if absent. */
  readonly model?: string;
  readonly messages: readonly ChatMessage[];
  /** All session ids in the request, from any field. */
  readonly sessions: readonly SessionReference[];
  readonly tools: readonly PromptTool[];
  readonly toolChoice: ChatToolChoice;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly maxTokens?: number;
  /** The budget of the turn. */
  readonly budget?: BudgetCaps;
  /** Names of fields without effect. */
  readonly ignored: readonly string[];
}

type Fields = { readonly [key: string]: unknown };

/**
 * Validates a chat completion request. Throws `invalid_message` whose details have the `param` and `code` of OpenAI's
 * errors.
 */
export function readChatRequest(body: unknown): ChatRequest {
  if (!isObject(body)) return rejectType("body", body, "an object with messages");
  for (const [name, instead] of UNSUPPORTED_FIELDS) {
    if (isPresent(body[name]))
      rejectRequest(name, "unsupported_parameter", `${name} is not supported; ${instead}`);
  }
  if (isPresent(body["n"]) && body["n"] !== 1) {
    rejectRequest("n", "unsupported_parameter", "n is not 1: an agent returns one choice");
  }
  const { messages, sessions } = readChatMessages(body["messages"]);
  const metadata = readMetadata(body["metadata"]);
  const tools = readChatTools(body["tools"]);
  const model = readOptional(body, "model", isShortString, "the name of an agent");
  const maxTokens = readMaxTokens(body);
  return {
    ...omitUndefined({ model }),
    messages,
    sessions: [
      ...readSessionId(body["session_id"], "session_id"),
      ...readSessionId(metadata.get("session_id"), "metadata.session_id"),
      ...sessions,
    ],
    tools,
    toolChoice: readChatToolChoice(body["tool_choice"], tools),
    stream: readOptional(body, "stream", isBoolean, "true or false") ?? false,
    includeUsage: readIncludeUsage(body["stream_options"]),
    ...omitUndefined({ maxTokens, budget: readBudget(body["budget"]) ?? undefined }),
    ignored: listIgnoredFields(body),
  };
}

/** Returns the prompt options set by the request. */
export function toChatPromptOptions(
  { tools, toolChoice, maxTokens, budget }: ChatRequest,
  instructions: string | undefined,
): PromptOptions {
  return {
    ...omitUndefined({ instructions }),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== "auto" && { allowedTools: toolChoice.only }),
    ...omitUndefined({ maxOutputTokens: maxTokens, budget }),
  };
}

/** Maps the path of a command field to the request field it came from, for error messages. */
export function resolveChatField(path: string): string | undefined {
  const field = FIELDS_BY_PATH.get(path);
  return field ?? (path.startsWith("options.tools") ? "tools" : undefined);
}

const FIELDS_BY_PATH: ReadonlyMap<string, string> = new Map([
  ["content", "messages"],
  ["results", "messages"],
  ["options.instructions", "messages"],
  ["options.allowedTools", "tool_choice"],
  ["options.maxOutputTokens", "max_completion_tokens"],
]);

const UNSUPPORTED_FIELDS: readonly (readonly [name: string, instead: string])[] = [
  ["functions", "use tools"],
  ["function_call", "use tool_choice"],
  ["audio", "an agent responds with text"],
];

/** The fields with an effect, and `user`, which is accepted without effect. */
const SUPPORTED_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "session_id",
  "metadata",
  "tools",
  "tool_choice",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "user",
  "n",
  "budget",
]);

/** Lists the fields without effect. `response_format: text` is the default and therefore not listed. */
function listIgnoredFields(body: Fields): string[] {
  return Object.keys(body).filter((name) => {
    const value = body[name];
    if (SUPPORTED_FIELDS.has(name) || !isPresent(value)) return false;
    return name !== "response_format" || !isObject(value) || value["type"] !== "text";
  });
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readOptional<Value>(
  body: Fields,
  name: string,
  isExpected: (value: unknown) => value is Value,
  expected: string,
): Value | undefined {
  const value = body[name];
  if (!isPresent(value)) return undefined;
  return isExpected(value) ? value : rejectType(name, value, expected);
}

function isShortString(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_NAME_LENGTH;
}

const MAX_NAME_LENGTH = 512;

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

/** The newer name takes precedence. */
function readMaxTokens(body: Fields): number | undefined {
  const older = readOptional(body, "max_tokens", isCount, "a whole number above 0");
  return readOptional(body, "max_completion_tokens", isCount, "a whole number above 0") ?? older;
}

function readIncludeUsage(value: unknown): boolean {
  if (!isPresent(value)) return false;
  if (!isObject(value)) return rejectType("stream_options", value, "an object");
  return value["include_usage"] === true;
}

function readMetadata(value: unknown): ReadonlyMap<string, string> {
  if (!isPresent(value)) return new Map();
  if (!isObject(value)) return rejectType("metadata", value, "an object of strings");
  const entries = Object.entries(value).map(([name, text]): readonly [string, string] => {
    const isValid = typeof text === "string" && name.length <= 64 && text.length <= 512;
    return isValid
      ? [name, text]
      : rejectType(`metadata.${name.slice(0, 64)}`, text, METADATA_RULE);
  });
  if (entries.length <= 16) return new Map(entries);
  return rejectRequest("metadata", "too_large", "metadata has more than 16 entries");
}

const METADATA_RULE = "a string of at most 512 characters with a name of at most 64";
