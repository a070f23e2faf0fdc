import type { PromptOptions, PromptTool } from "../../domain/agent-event.ts";
import { isObject } from "../../domain/json.ts";
import type { ChatMessage, NamedSession } from "./chat-message.ts";
import { readMessages } from "./read-messages.ts";
import { readSessionId } from "./read-session-id.ts";
import { readToolChoice, readTools, type ChatToolChoice } from "./read-tools.ts";
import { refuse, refuseType } from "./refuse.ts";

/** A chat completion that somebody asks for. */
export interface ChatRequest {
  /** The agent. */
  readonly model?: string;
  readonly messages: readonly ChatMessage[];
  /** Sessions that the request names, wherever it does. */
  readonly sessions: readonly NamedSession[];
  readonly tools: readonly PromptTool[];
  readonly toolChoice: ChatToolChoice;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly maxTokens?: number;
  /** Fields that had no effect, by name. */
  readonly ignored: readonly string[];
}

type Fields = { readonly [key: string]: unknown };

/** Throws an `invalid_message` whose details have the `param` and `code` of OpenAI's errors. */
export function readChatRequest(body: unknown): ChatRequest {
  if (!isObject(body)) return refuseType("body", body, "an object with messages");
  for (const [name, instead] of REFUSED) {
    if (isGiven(body[name]))
      refuse(name, "unsupported_parameter", `${name} is not known; ${instead}`);
  }
  if (isGiven(body["n"]) && body["n"] !== 1) {
    refuse("n", "unsupported_parameter", "n is not 1; an agent gives one answer");
  }
  const { messages, sessions } = readMessages(body["messages"]);
  const metadata = readMetadata(body["metadata"]);
  const tools = readTools(body["tools"]);
  const model = optional(body, "model", isText, "the name of an agent");
  const maxTokens = readMaxTokens(body);
  return {
    ...(model !== undefined && { model }),
    messages,
    sessions: [
      ...readSessionId(body["session_id"], "session_id"),
      ...readSessionId(metadata.get("session_id"), "metadata.session_id"),
      ...sessions,
    ],
    tools,
    toolChoice: readToolChoice(body["tool_choice"], tools),
    stream: optional(body, "stream", isBoolean, "true or false") ?? false,
    includeUsage: readIncludeUsage(body["stream_options"]),
    ...(maxTokens !== undefined && { maxTokens }),
    ignored: ignoredIn(body),
  };
}

/** What the request asks of its turn. */
export function chatPromptOptions(
  { tools, toolChoice, maxTokens }: ChatRequest,
  instructions: string | undefined,
): PromptOptions {
  return {
    ...(instructions !== undefined && { instructions }),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== "auto" && { allowedTools: toolChoice.only }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
  };
}

/** The field that a part of a session's command was made of. */
export function chatFieldOf(path: string): string | undefined {
  const field = FIELDS.get(path);
  return field ?? (path.startsWith("options.tools") ? "tools" : undefined);
}

const FIELDS: ReadonlyMap<string, string> = new Map([
  ["content", "messages"],
  ["results", "messages"],
  ["options.instructions", "messages"],
  ["options.allowedTools", "tool_choice"],
  ["options.maxOutputTokens", "max_completion_tokens"],
]);

const REFUSED: readonly (readonly [name: string, instead: string])[] = [
  ["functions", "use tools"],
  ["function_call", "use tool_choice"],
  ["audio", "an agent answers with text"],
];

/** What is read; and `user`, which promises nothing. */
const READ: ReadonlySet<string> = new Set([
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
]);

/** A response in plain text is what there is anyway. */
function ignoredIn(body: Fields): string[] {
  return Object.keys(body).filter((name) => {
    const value = body[name];
    if (READ.has(name) || !isGiven(value)) return false;
    return name !== "response_format" || !isObject(value) || value["type"] !== "text";
  });
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function optional<Value>(
  body: Fields,
  name: string,
  isWanted: (value: unknown) => value is Value,
  wanted: string,
): Value | undefined {
  const value = body[name];
  if (!isGiven(value)) return undefined;
  return isWanted(value) ? value : refuseType(name, value, wanted);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= LONGEST_NAME;
}

const LONGEST_NAME = 512;

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}

/** The newer name goes before the older. */
function readMaxTokens(body: Fields): number | undefined {
  const older = optional(body, "max_tokens", isCount, "a whole number above 0");
  return optional(body, "max_completion_tokens", isCount, "a whole number above 0") ?? older;
}

function readIncludeUsage(value: unknown): boolean {
  if (!isGiven(value)) return false;
  if (!isObject(value)) return refuseType("stream_options", value, "an object");
  return value["include_usage"] === true;
}

function readMetadata(value: unknown): ReadonlyMap<string, string> {
  if (!isGiven(value)) return new Map();
  if (!isObject(value)) return refuseType("metadata", value, "an object of texts");
  const entries = Object.entries(value).map(([name, text]): readonly [string, string] => {
    const isFit = typeof text === "string" && name.length <= 64 && text.length <= 512;
    return isFit ? [name, text] : refuseType(`metadata.${name.slice(0, 64)}`, text, METADATA_RULE);
  });
  if (entries.length <= 16) return new Map(entries);
  return refuse("metadata", "too_large", "metadata has more than 16 entries");
}

const METADATA_RULE = "a text of at most 512 characters under a name of at most 64";
