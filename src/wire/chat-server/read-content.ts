import { SpanlineError } from "../../domain/errors.ts";
import { imageBlock, type ImageBlock } from "../../domain/image-block.ts";
import { isObject } from "../../domain/json.ts";
import { shown } from "../../domain/shown.ts";
import type { ChatPart, NamedSession } from "./chat-message.ts";
import { readSessionId } from "./read-session-id.ts";
import { refuse, refuseType } from "./refuse.ts";

export interface ReadContent {
  readonly parts: readonly ChatPart[];
  /** Some clients move what they were given on a message into its content. */
  readonly sessions: readonly NamedSession[];
}

/** The content of a message: a text, or parts. What cannot be passed on is refused, not left out. */
export function readContent(content: unknown, param: string): ReadContent {
  if (typeof content === "string") {
    return { parts: [{ type: "text", text: checkedText(content, param) }], sessions: [] };
  }
  if (!Array.isArray(content)) return refuseType(param, content, "a text or a list of parts");
  if (content.length > MOST_PARTS) {
    refuse(param, "too_large", `${param} has more than ${MOST_PARTS} parts`);
  }
  const read = content.map((part: unknown, at) => readPart(part, `${param}[${at}]`));
  return {
    parts: read.map(({ part }) => part),
    sessions: read.flatMap(({ sessions }) => sessions),
  };
}

const MOST_PARTS = 1000;
/** As OpenAI counts. */
const MOST_CHARACTERS = 10_485_760;

interface ReadPart {
  readonly part: ChatPart;
  readonly sessions: readonly NamedSession[];
}

function readPart(value: unknown, param: string): ReadPart {
  // A bare text in a list is what it looks like.
  const fields: Fields =
    typeof value === "string" ? { type: "text", text: value } : fieldsOf(value, param);
  return {
    part: partOf(fields, param),
    sessions: readSessionId(fields["session_id"], `${param}.session_id`),
  };
}

type Fields = { readonly [key: string]: unknown };

function fieldsOf(value: unknown, param: string): Fields {
  return isObject(value) ? value : refuseType(param, value, "a part with a type");
}

function partOf(fields: Fields, param: string): ChatPart {
  const { type } = fields;
  switch (type) {
    case "text":
    case "input_text":
    case "output_text":
      return { type: "text", text: textAt(fields["text"], `${param}.text`) };
    case "refusal":
      return { type: "text", text: textAt(fields["refusal"], `${param}.refusal`) };
    case "image_url":
    case "input_image":
      return imageAt(fields["image_url"], `${param}.image_url`);
    default: {
      const message = `${param}.type is ${shown(type)}; wanted text or image_url, since nothing else can be passed on`;
      return refuse(param, "unsupported_content", message);
    }
  }
}

export function textAt(value: unknown, param: string): string {
  return typeof value === "string" ? checkedText(value, param) : refuseType(param, value, "a text");
}

function checkedText(text: string, param: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  return refuse(param, "too_large", `${param} has more than ${MOST_CHARACTERS} characters`);
}

/** Only what the request itself carries: nothing is fetched on somebody's behalf. */
function imageAt(value: unknown, param: string): ImageBlock {
  const url = isObject(value) ? value["url"] : value;
  const [, mediaType = "", base64 = ""] = typeof url === "string" ? (DATA_URL.exec(url) ?? []) : [];
  if (mediaType === "") {
    const message = `${param} is no picture as a data: URL in base64; addresses are not fetched`;
    return refuse(param, "unsupported_content", message);
  }
  try {
    return imageBlock(mediaType, base64);
  } catch (error) {
    if (!(error instanceof SpanlineError)) throw error;
    return refuse(param, "unsupported_content", `${param}: ${error.message}`);
  }
}

const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,(.*)$/is;
