import { SpanlineError } from "../../domain/errors.ts";
import { createImageBlock, type ImageBlock } from "../../domain/model/image-block.ts";
import { isObject } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";
import type { ChatPart, SessionReference } from "./chat-message.ts";
import { readSessionId } from "./read-session-id.ts";
import { rejectRequest, rejectType } from "./reject-request.ts";

export interface ChatContent {
  readonly parts: readonly ChatPart[];
  /** Session ids in parts. Some clients move fields of a message into its content. */
  readonly sessions: readonly SessionReference[];
}

/** Reads the content of a message: a string or a list of parts. Unsupported parts are refused instead of dropped. */
export function readChatContent(content: unknown, param: string): ChatContent {
  if (typeof content === "string") {
    return { parts: [{ type: "text", text: checkTextLength(content, param) }], sessions: [] };
  }
  if (!Array.isArray(content)) return rejectType(param, content, "a string or a list of parts");
  if (content.length > MAX_PARTS) {
    rejectRequest(param, "too_large", `${param} has more than ${MAX_PARTS} parts`);
  }
  const read = content.map((part: unknown, at) => readPart(part, `${param}[${at}]`));
  return {
    parts: read.map(({ part }) => part),
    sessions: read.flatMap(({ sessions }) => sessions),
  };
}

const MAX_PARTS = 1000;
/** OpenAI's limit, in characters. */
const MAX_CHARACTERS = 10_485_760;

interface ChatContentPart {
  readonly part: ChatPart;
  readonly sessions: readonly SessionReference[];
}

function readPart(value: unknown, param: string): ChatContentPart {
  // A bare string in a list is a text part.
  const fields: Fields =
    typeof value === "string" ? { type: "text", text: value } : requireObject(value, param);
  return {
    part: toChatPart(fields, param),
    sessions: readSessionId(fields["session_id"], `${param}.session_id`),
  };
}

type Fields = { readonly [key: string]: unknown };

function requireObject(value: unknown, param: string): Fields {
  return isObject(value) ? value : rejectType(param, value, "a part with a type");
}

function toChatPart(fields: Fields, param: string): ChatPart {
  const { type } = fields;
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      return { type: "text", text: requireString(fields["text"], `${param}.text`) };
    case "refusal":
      return { type: "text", text: requireString(fields["refusal"], `${param}.refusal`) };
    case "image_url":
    case "input_image":
      return readImage(fields["image_url"], `${param}.image_url`);
    default: {
      const message = `${param}.type is ${formatValue(type)}: expected text or image_url; other content is not supported`;
      return rejectRequest(param, "unsupported_content", message);
    }
  }
}

export function requireString(value: unknown, param: string): string {
  return typeof value === "string"
    ? checkTextLength(value, param)
    : rejectType(param, value, "a string");
}

function checkTextLength(text: string, param: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return rejectRequest(param, "too_large", `${param} has more than ${MAX_CHARACTERS} characters`);
}

/**
 * Reads an image from a data: URL. URLs are never fetched, because the server must not make requests chosen by a
 * client.
 */
function readImage(value: unknown, param: string): ImageBlock {
  const url = isObject(value) ? value["url"] : value;
  const [mediaType, base64] = typeof url === "string" ? splitDataUrl(url) : ["", ""];
  if (mediaType === "") {
    const message = `${param} is not an image as a base64 data: URL; URLs are not fetched`;
    return rejectRequest(param, "unsupported_content", message);
  }
  try {
    return createImageBlock(mediaType, base64);
  } catch (error) {
    if (!(error instanceof SpanlineError)) throw error;
    return rejectRequest(param, "unsupported_content", `${param}: ${error.message}`);
  }
}

/** The media type is empty if the URL is not a base64 data URL. */
function splitDataUrl(url: string): readonly [mediaType: string, base64: string] {
  const comma = url.indexOf(",");
  const [, mediaType = ""] =
    DATA_URL_HEAD.exec(url.slice(0, Math.min(comma, MAX_HEAD_LENGTH))) ?? [];
  return [mediaType, url.slice(comma + 1)];
}

const DATA_URL_HEAD = /^data:([a-z]+\/[a-z0-9.+-]+);base64$/i;
const MAX_HEAD_LENGTH = 200;
