import type { JsonObject } from "../../../data/json.ts";
import { JsonBudget } from "../../../data/json-budget.ts";
import { formatOutputPart } from "../items/format-tool-output.ts";
import { unpackConversation } from "./compaction.ts";
import {
  joinPath,
  readChoice,
  type Fields,
  checkNestedJson,
  isAbsent,
  readJson,
  readList,
  readObject,
  readOptionalString,
  readString,
} from "./body-fields.ts";
import type { ContentPart, InputItem, MessageInput } from "./input-item.ts";
import { MAX_TEXT_LENGTH, readContent } from "./read-content.ts";
import { createFieldError } from "./request-error.ts";

/** Reads the `input` of a request. A string is one user message. */
export function readInput(input: unknown): readonly InputItem[] {
  if (isAbsent(input)) return [];
  if (typeof input === "string") {
    const parts = readContent(input, "input");
    return [{ ...NO_ORIGIN, path: "input", kind: "message", role: "user", parts }];
  }
  return readItems(input, "input");
}

/** Reads a list of items in the field `param`. */
export function readItems(items: unknown, param: string): readonly InputItem[] {
  const budget = new JsonBudget();
  return readList(items, param, MAX_ITEMS).map((item, index) => {
    const path = `${param}[${index}]`;
    return readItem(readObject(item, path), path, budget);
  });
}

function readItem(item: Fields, path: string, budget: JsonBudget): InputItem {
  // An item without a type is a message if it has a role, and a reference otherwise.
  const type = item["type"] ?? ("role" in item ? "message" : "item_reference");
  const origin = {
    path,
    id: readOptionalString(item, "id", path, MAX_ID_LENGTH),
    sessionId: item["session_id"] ?? null,
  };
  switch (type) {
    case "message":
      return readMessage(item, origin);
    case "function_call":
      return {
        kind: "call",
        ...origin,
        ...readToolCall(item, path, budget),
        callId: readCallId(item, path),
      };
    case "function_call_output":
      return {
        kind: "result",
        ...origin,
        callId: readCallId(item, path),
        parts: readContent(item["output"], joinPath(path, "output")),
        isError: item["is_error"] === true,
      };
    case "reasoning":
      return { kind: "reasoning", ...origin, ...readReasoning(item, path) };
    case "mcp_call":
    case "spanline:tool_call":
      return { kind: "executed", ...origin, ...readExecutedToolCall(item, path, budget) };
    case "compaction": {
      const where = joinPath(path, "encrypted_content");
      const packed = readString(item["encrypted_content"], where, MAX_COMPACTION_LENGTH);
      return { kind: "compaction", ...origin, ...unpackConversation(packed, where, budget) };
    }
    case "item_reference": {
      const id = readString(item["id"], joinPath(path, "id"), MAX_ID_LENGTH);
      return { kind: "reference", ...origin, id };
    }
    default:
      throw createFieldError(
        joinPath(path, "type"),
        "is not a supported item type; see the list of input items",
        "unsupported_item",
      );
  }
}

type ItemOrigin = Pick<MessageInput, "path" | "id" | "sessionId">;

function readMessage(item: Fields, origin: ItemOrigin): MessageInput {
  const role = readChoice(item["role"], joinPath(origin.path, "role"), ROLES);
  const { content } = item;
  // Some clients send an assistant message without text as null.
  const isSilent = role === "assistant" && isAbsent(content);
  return {
    kind: "message",
    ...origin,
    role,
    parts: isSilent ? [] : readContent(content, joinPath(origin.path, "content")),
    partSessionIds: role === "assistant" ? listPartSessionIds(content) : [],
    state: role === "assistant" ? readState(item, origin.path) : {},
  };
}

function listPartSessionIds(content: unknown): readonly unknown[] {
  if (!Array.isArray(content)) return [];
  return content
    .map((part: unknown) => readObject(part, "content")["session_id"])
    .filter((id) => !isAbsent(id));
}

/** Collects the fields of a message which are not part of the message format. */
function readState(item: Fields, path: string): JsonObject {
  const entries = Object.entries(item)
    .filter(([name, value]) => !MESSAGE_FIELDS.has(name) && value !== undefined)
    .map(([name, value]) => [name, readJson(value, joinPath(path, name))] as const);
  const state: JsonObject = Object.fromEntries(entries);
  if (entries.length > 0 && JSON.stringify(state).length > MAX_STATE_LENGTH)
    throw createFieldError(
      path,
      `has more than ${MAX_STATE_LENGTH} characters of state; store the state elsewhere and send a reference`,
      "state_too_large",
    );
  return state;
}

function readToolCall(item: Fields, path: string, budget: JsonBudget) {
  const inputText = readOptionalString(item, "arguments", path, MAX_TEXT_LENGTH) ?? "";
  checkNestedJson(inputText, joinPath(path, "arguments"), budget);
  return { name: readString(item["name"], joinPath(path, "name"), MAX_NAME_LENGTH), inputText };
}

function readCallId(item: Fields, path: string): string {
  const callId = readString(item["call_id"], joinPath(path, "call_id"), MAX_ID_LENGTH);
  if (callId === "") throw createFieldError(joinPath(path, "call_id"), "is empty", "missing_field");
  return callId;
}

function readReasoning(item: Fields, path: string) {
  const redacted = readOptionalString(item, "encrypted_content", path, MAX_TEXT_LENGTH);
  const signature = readOptionalString(item, "signature", path, MAX_TEXT_LENGTH);
  const summary = isAbsent(item["summary"])
    ? []
    : readContent(item["summary"], joinPath(path, "summary"));
  return {
    text: joinText(summary),
    ...(redacted !== null && { redacted }),
    ...(signature !== null && { signature }),
  };
}

function readExecutedToolCall(item: Fields, path: string, budget: JsonBudget) {
  const { error } = item;
  const output = readOptionalString(item, "output", path, MAX_TEXT_LENGTH);
  const callId = readOptionalString(item, "call_id", path, MAX_ID_LENGTH);
  const failure = isAbsent(error) ? null : formatErrorText(error, joinPath(path, "error"));
  return {
    ...readToolCall(item, path, budget),
    callId: callId ?? readOptionalString(item, "id", path, MAX_ID_LENGTH) ?? path,
    output: output ?? failure,
    isError: failure !== null || item["is_error"] === true,
  };
}

/** An error is a string, or an object in the vendor's format. */
function formatErrorText(error: unknown, path: string): string {
  if (typeof error === "string") return readString(error, path, MAX_TEXT_LENGTH);
  return formatOutputPart({ type: "json", value: readJson(error, path) });
}

/** Joins the texts of the parts with line breaks. */
export function joinText(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

const NO_ORIGIN = { id: null, sessionId: null, partSessionIds: [], state: {} } as const;
const ROLES = ["user", "assistant", "system", "developer"] as const;
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  "type",
  "id",
  "role",
  "content",
  "status",
  "phase",
  "session_id",
  "withdrawn",
]);
const MAX_ITEMS = 10_000;
/** Ids created by this server contain a session id. */
const MAX_ID_LENGTH = 512;
/** Names of foreign tools are only read, so they may exceed the limit for own tools. */
const MAX_NAME_LENGTH = 256;
const MAX_STATE_LENGTH = 16_384;
const MAX_COMPACTION_LENGTH = 33_554_432;
