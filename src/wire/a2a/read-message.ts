import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatThrown } from "../../domain/errors.ts";
import { createImageBlock } from "../../domain/model/image-block.ts";
import type { SubmittedPart } from "../../domain/session-command.ts";
import { formatValue } from "../../text/format-value.ts";
import { A2aError, createParamsError } from "./a2a-error.ts";

/** A message of a client. */
export interface SentMessage {
  /** Chosen by the client. The same message sent again has no further effect. */
  readonly messageId: string;
  /** The session. Absent: a new session, or the session of the task. */
  readonly contextId?: string;
  /** The task that the message continues. Absent: a new task. */
  readonly taskId?: string;
  readonly content: readonly SubmittedPart[];
  /** The texts of the message, joined. */
  readonly text: string;
  /** The objects of the message, which may decide an approval request. */
  readonly data: readonly JsonObject[];
}

/** The longest accepted id, and the largest number of parts. */
const MAX_ID_LENGTH = 200;
const MAX_PARTS = 100;

/** Reads a message in the form of A2A 1.0 or 0.3. Throws `A2aError` if the message is not valid. */
export function readMessage(value: unknown): SentMessage {
  if (!isObject(value))
    throw createParamsError(`message is ${formatValue(value)}: expected an object`);
  const { parts, role } = value;
  if (role !== "ROLE_USER" && role !== "user")
    throw createParamsError(`message.role is ${formatValue(role)}: expected ROLE_USER`);
  const messageId = readId(value["messageId"], "message.messageId");
  if (messageId === undefined)
    throw createParamsError("message.messageId is missing: expected an id chosen by the client");
  const contextId = readId(value["contextId"], "message.contextId");
  const taskId = readId(value["taskId"], "message.taskId");
  const content = readParts(parts);
  return {
    messageId,
    ...omitUndefined({ contextId, taskId }),
    content: content.map(({ part }) => part),
    text: content.flatMap(({ text }) => (text === undefined ? [] : [text])).join("\n"),
    data: content.flatMap(({ data }) => (data === undefined ? [] : [data])),
  };
}

/** Undefined if the id is absent or empty: protocol buffers have no other absent string. */
export function readId(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "string" && value.length <= MAX_ID_LENGTH) return value;
  throw createParamsError(
    `${name} is ${formatValue(value)}: expected a string of at most ${MAX_ID_LENGTH} characters`,
  );
}

interface ReadPart {
  readonly part: SubmittedPart;
  readonly text?: string;
  readonly data?: JsonObject;
}

function readParts(parts: unknown): readonly ReadPart[] {
  if (!Array.isArray(parts) || parts.length === 0)
    throw createParamsError(`message.parts is ${formatValue(parts)}: expected a list of parts`);
  if (parts.length > MAX_PARTS)
    throw createParamsError(
      `message.parts has ${parts.length} parts: expected at most ${MAX_PARTS}`,
    );
  return parts.map((part: unknown, at) => readPart(part, `message.parts[${at}]`));
}

function readPart(part: unknown, path: string): ReadPart {
  if (!isObject(part))
    throw createParamsError(`${path} is ${formatValue(part)}: expected an object`);
  const { text, data, raw, url, file } = part;
  if (typeof text === "string") return { part: { type: "text", text }, text };
  if (data !== undefined) return readData(data);
  const bytes = raw ?? (isObject(file) ? file["bytes"] : undefined);
  if (typeof bytes === "string") return readFile(bytes, readMediaType(part), path);
  if (url !== undefined || file !== undefined) {
    const message = `${path} refers to a file by URL, which is not fetched. Fix: send the bytes`;
    throw new A2aError("CONTENT_TYPE_NOT_SUPPORTED", message);
  }
  throw createParamsError(`${path} is not a known part: expected text, data or raw`);
}

function readMediaType(part: { readonly [key: string]: unknown }): unknown {
  const { mediaType, file } = part;
  return mediaType ?? (isObject(file) ? file["mimeType"] : undefined);
}

/** The agent receives data as JSON text. */
function readData(value: unknown): ReadPart {
  const text = toJsonText(value);
  const data = isJsonObject(value) ? { data: value } : {};
  return { part: { type: "text", text }, ...data };
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

/** Models accept images only; a text file is sent as text. */
function readFile(base64: string, mediaType: unknown, path: string): ReadPart {
  if (typeof mediaType !== "string")
    throw createParamsError(`${path} has no media type: expected mediaType`);
  const [type = ""] = mediaType
    .toLowerCase()
    .split(";", 1)
    .map((text) => text.trim());
  if (type.startsWith("text/") || type === "application/json") {
    const text = decodeText(base64, path);
    return { part: { type: "text", text } };
  }
  try {
    return { part: createImageBlock(type, base64) };
  } catch (error) {
    throw new A2aError("CONTENT_TYPE_NOT_SUPPORTED", `${path}: ${formatThrown(error)}`, {
      cause: error,
    });
  }
}

function decodeText(base64: string, path: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw createParamsError(`${path} is not UTF-8 text in base64: ${formatThrown(error)}`);
  }
}

/** A decision about an approval request, or an answer to a question of the agent. */
export interface SentDecision {
  /** Absent: the only open request of the task. */
  readonly approvalId?: string;
  readonly approved?: boolean;
  /** The name of a decision, or the answer to a question. */
  readonly answer?: JsonValue;
  readonly reason?: string;
  /** Replaces the arguments of the tool call. */
  readonly input?: JsonObject;
}

/** Reads a decision from the data of a message, or else from its text. */
export function readDecision({ data, text }: SentMessage): SentDecision {
  const [fields] = data;
  if (fields === undefined) return { answer: text.trim() };
  const { approvalId, approved, decision, answer, reason, input } = fields;
  return {
    ...(typeof approvalId === "string" && { approvalId }),
    ...(typeof approved === "boolean" && { approved }),
    ...(answer === undefined ? omitUndefined({ answer: decision }) : { answer }),
    ...(typeof reason === "string" && { reason }),
    ...(isJsonObject(input) && { input }),
  };
}
