import type { JsonObject } from "../../../domain/json.ts";
import { partText } from "../tool-output.ts";
import { unpackConversation } from "./compaction.ts";
import {
  at,
  choiceAt,
  type Fields,
  isAbsent,
  jsonAt,
  listAt,
  objectAt,
  optionalText,
  textAt,
} from "./fields.ts";
import type { ContentPart, InputItem, MessageInput } from "./input-item.ts";
import { LONGEST_TEXT, readContent } from "./read-content.ts";
import { wrongField } from "./refusal.ts";

/** The `input` of a request: a text is one message of the user's. */
export function readInput(input: unknown): readonly InputItem[] {
  if (isAbsent(input)) return [];
  if (typeof input === "string") {
    const parts = readContent(input, "input");
    return [{ ...NOWHERE, path: "input", kind: "message", role: "user", parts }];
  }
  return readItems(input, "input");
}

/** A list of items, under the name that the request has for it. */
export function readItems(items: unknown, param: string): readonly InputItem[] {
  return listAt(items, param, MOST_ITEMS).map((item, index) => {
    const path = `${param}[${index}]`;
    return readItem(objectAt(item, path), path);
  });
}

function readItem(item: Fields, path: string): InputItem {
  // Without a type it is a message if it has a role, and a reference if it has nothing but an id.
  const type = item["type"] ?? ("role" in item ? "message" : "item_reference");
  const placed = {
    path,
    id: optionalText(item, "id", path, LONGEST_ID),
    sessionId: item["session_id"] ?? null,
  };
  switch (type) {
    case "message":
      return readMessage(item, placed);
    case "function_call":
      return { kind: "call", ...placed, ...readCall(item, path), callId: callIdIn(item, path) };
    case "function_call_output":
      return {
        kind: "result",
        ...placed,
        callId: callIdIn(item, path),
        parts: readContent(item["output"], at(path, "output")),
        isError: item["is_error"] === true,
      };
    case "reasoning":
      return { kind: "reasoning", ...placed, ...readReasoning(item, path) };
    case "mcp_call":
    case "spanline:tool_call":
      return { kind: "executed", ...placed, ...readExecuted(item, path) };
    case "compaction": {
      const where = at(path, "encrypted_content");
      const packed = textAt(item["encrypted_content"], where, LONGEST_COMPACTION);
      return { kind: "compaction", ...placed, ...unpackConversation(packed, where) };
    }
    case "item_reference": {
      const id = textAt(item["id"], at(path, "id"), LONGEST_ID);
      return { kind: "reference", ...placed, id };
    }
    default:
      throw wrongField(
        at(path, "type"),
        "names an item that is not taken here; see the list of input items",
        "unsupported_item",
      );
  }
}

type Placed = Pick<MessageInput, "path" | "id" | "sessionId">;

function readMessage(item: Fields, placed: Placed): MessageInput {
  const role = choiceAt(item["role"], at(placed.path, "role"), ROLES);
  const { content } = item;
  // Some clients send an assistant's message without text as null.
  const isSilent = role === "assistant" && isAbsent(content);
  return {
    kind: "message",
    ...placed,
    role,
    parts: isSilent ? [] : readContent(content, at(placed.path, "content")),
    partSessionIds: role === "assistant" ? partSessionIds(content) : [],
    state: role === "assistant" ? stateOf(item, placed.path) : {},
  };
}

function partSessionIds(content: unknown): readonly unknown[] {
  if (!Array.isArray(content)) return [];
  return content
    .map((part: unknown) => objectAt(part, "content")["session_id"])
    .filter((id) => !isAbsent(id));
}

/** What stands on a message beside what a message has. */
function stateOf(item: Fields, path: string): JsonObject {
  const entries = Object.entries(item)
    .filter(([name, value]) => !MESSAGE_FIELDS.has(name) && value !== undefined)
    .map(([name, value]) => [name, jsonAt(value, at(path, name))] as const);
  const state: JsonObject = Object.fromEntries(entries);
  if (entries.length > 0 && JSON.stringify(state).length > LARGEST_STATE)
    throw wrongField(
      path,
      `carries more than ${LARGEST_STATE} characters of state; keep it elsewhere and carry its name`,
      "state_too_large",
    );
  return state;
}

function readCall(item: Fields, path: string) {
  return {
    name: textAt(item["name"], at(path, "name"), LONGEST_NAME),
    inputText: optionalText(item, "arguments", path, LONGEST_TEXT) ?? "",
  };
}

function callIdIn(item: Fields, path: string): string {
  const callId = textAt(item["call_id"], at(path, "call_id"), LONGEST_ID);
  if (callId === "") throw wrongField(at(path, "call_id"), "is empty", "missing_field");
  return callId;
}

function readReasoning(item: Fields, path: string) {
  const redacted = optionalText(item, "encrypted_content", path, LONGEST_TEXT);
  const signature = optionalText(item, "signature", path, LONGEST_TEXT);
  const summary = isAbsent(item["summary"])
    ? []
    : readContent(item["summary"], at(path, "summary"));
  return {
    text: textOf(summary),
    ...(redacted !== null && { redacted }),
    ...(signature !== null && { signature }),
  };
}

function readExecuted(item: Fields, path: string) {
  const { error } = item;
  const output = optionalText(item, "output", path, LONGEST_TEXT);
  const callId = optionalText(item, "call_id", path, LONGEST_ID);
  const failure = isAbsent(error) ? null : errorText(error, at(path, "error"));
  return {
    ...readCall(item, path),
    callId: callId ?? optionalText(item, "id", path, LONGEST_ID) ?? path,
    output: output ?? failure,
    isError: failure !== null || item["is_error"] === true,
  };
}

/** A text, or an object in the vendor's own shape. */
function errorText(error: unknown, path: string): string {
  if (typeof error === "string") return textAt(error, path, LONGEST_TEXT);
  return partText({ type: "json", value: jsonAt(error, path) });
}

/** The texts of some parts, each on its own line. */
export function textOf(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

const NOWHERE = { id: null, sessionId: null, partSessionIds: [], state: {} } as const;
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
const MOST_ITEMS = 10_000;
/** An id of ours has a session's in it. */
const LONGEST_ID = 512;
/** Names from elsewhere are only read. */
const LONGEST_NAME = 256;
const LARGEST_STATE = 16_384;
const LONGEST_COMPACTION = 33_554_432;
