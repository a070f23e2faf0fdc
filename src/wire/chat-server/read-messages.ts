import { isObject, jsonText, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { shown } from "../../domain/shown.ts";
import { toolCall, type ToolCall } from "../../domain/tool.ts";
import { sessionOfItem } from "../responses/ids.ts";
import { textOf, type ChatMessage, type ChatPart, type NamedSession } from "./chat-message.ts";
import { readContent, textAt } from "./read-content.ts";
import { readSessionId } from "./read-session-id.ts";
import { refuse, refuseType } from "./refuse.ts";

export interface ReadMessages {
  readonly messages: readonly ChatMessage[];
  /** Those that the assistant's messages name. */
  readonly sessions: readonly NamedSession[];
}

type Fields = { readonly [key: string]: unknown };

/** Messages may have any fields beside those that are read. */
export function readMessages(value: unknown): ReadMessages {
  if (!Array.isArray(value)) return refuseType("messages", value, "a list of messages");
  if (value.length === 0) refuse("messages", "missing_user_message", `messages is empty; ${SAY}`);
  if (value.length > MOST_MESSAGES) {
    refuse("messages", "too_large", `messages has more than ${MOST_MESSAGES} messages`);
  }
  const sessions: NamedSession[] = [];
  const messages = value.map((message: unknown, at) => {
    const param = `messages[${at}]`;
    if (!isObject(message)) return refuseType(param, message, "a message with a role");
    return readMessage(message, { at, param, sessions });
  });
  return { messages, sessions };
}

const MOST_MESSAGES = 10_000;
const SAY = "say something as the user";

interface Place {
  readonly at: number;
  readonly param: string;
  readonly sessions: NamedSession[];
}

function readMessage(fields: Fields, place: Place): ChatMessage {
  const { at, param } = place;
  const { role, content } = fields;
  switch (role) {
    case "system":
    case "developer":
      return { type: "instructions", at, text: onlyText(content, `${param}.content`) };
    case "user":
      return { type: "user", at, parts: readContent(content, `${param}.content`).parts };
    case "assistant":
      return readAssistant(fields, place);
    case "tool": {
      const callId = idAt(fields["tool_call_id"], `${param}.tool_call_id`);
      return { type: "result", at, callId, text: onlyText(content, `${param}.content`) };
    }
    default: {
      const message = `${param}.role is ${shown(role)}; wanted system, developer, user, assistant or tool`;
      return refuse(`${param}.role`, "invalid_value", message);
    }
  }
}

function readAssistant(fields: Fields, { at, param, sessions }: Place): ChatMessage {
  const { content } = fields;
  sessions.push(...readSessionId(fields["session_id"], `${param}.session_id`));
  let parts: readonly ChatPart[] = [];
  if (content !== undefined && content !== null) {
    const read = readContent(content, `${param}.content`);
    parts = read.parts;
    sessions.push(...read.sessions);
  }
  const calls = readCalls(fields["tool_calls"], `${param}.tool_calls`);
  const { id } = fields;
  const isOurs = typeof id === "string" && sessionOfItem(id) !== null;
  const state = stateOf(fields, param);
  return { type: "assistant", at, parts, calls, ...(isOurs && { id }), state };
}

function readCalls(value: unknown, param: string): ToolCall[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return refuseType(param, value, "a list of calls");
  return value.map((call: unknown, at) => {
    const place = `${param}[${at}]`;
    const wanted = isObject(call) ? call["function"] : undefined;
    if (!isObject(call) || !isObject(wanted)) {
      return refuseType(place, call, "a call with an id and a function");
    }
    return toolCall({
      id: idAt(call["id"], `${place}.id`),
      name: idAt(wanted["name"], `${place}.function.name`),
      inputText: textAt(wanted["arguments"] ?? "", `${place}.function.arguments`),
      runBy: "client",
    });
  });
}

function onlyText(content: unknown, param: string): string {
  const { parts } = readContent(content, param);
  const at = parts.findIndex(({ type }) => type !== "text");
  if (at === -1) return textOf(parts);
  return refuse(`${param}[${at}]`, "unsupported_content", `${param}[${at}] is no text`);
}

function idAt(value: unknown, param: string): string {
  if (typeof value !== "string" || value === "") return refuseType(param, value, "some text");
  if (value.length <= LONGEST_ID) return value;
  return refuse(param, "too_large", `${param} has more than ${LONGEST_ID} characters`);
}

const LONGEST_ID = 512;

/** What nobody here reads, to be given back with the next answer. */
function stateOf(fields: Fields, param: string): JsonObject {
  // Clients have fields of their own, which are null where they are empty.
  const entries = Object.entries(fields).filter(
    ([name, value]) => !READ.has(name) && value !== null,
  );
  // Not an object literal: a key `__proto__` is data.
  const state = Object.fromEntries(entries) as { readonly [name: string]: JsonValue };
  if (entries.length === 0 || jsonText(state).length <= MOST_STATE) return state;
  return refuse(param, "too_large", `${param} has more than ${MOST_STATE} characters of state`);
}

const MOST_STATE = 65_536;

/** What chat completions and our own answers have on a message of the assistant's. */
const READ: ReadonlySet<string> = new Set([
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
