import { imageBlock, type ImageBlock } from "../../../domain/image-block.ts";
import { thrownMessage } from "../../../domain/errors.ts";
import { at, type Fields, listAt, objectAt, textAt } from "./fields.ts";
import type { ContentPart } from "./input-item.ts";
import { wrongField } from "./refusal.ts";

/** In characters, of one text: what the specification allows. */
export const LONGEST_TEXT = 10_485_760;
const MOST_PARTS = 1000;
const LONGEST_PICTURE = 20_971_520;

/** The content of a message or a result: a text, or parts in their order. */
export function readContent(content: unknown, path: string): readonly ContentPart[] {
  if (typeof content === "string")
    return [{ type: "text", text: textAt(content, path, LONGEST_TEXT), path }];
  if (content === null || content === undefined)
    throw wrongField(path, "is missing; give a text or an array of parts", "missing_field");
  return listAt(content, path, MOST_PARTS).map((part, index) =>
    readPart(objectAt(part, `${path}[${index}]`), `${path}[${index}]`),
  );
}

function readPart(part: Fields, path: string): ContentPart {
  const { type } = part;
  switch (type) {
    case "input_text":
    case "output_text":
    case "summary_text":
    case "reasoning_text":
    case "text":
      return { type: "text", text: textAt(part["text"], at(path, "text"), LONGEST_TEXT), path };
    case "refusal":
      return {
        type: "text",
        text: textAt(part["refusal"], at(path, "refusal"), LONGEST_TEXT),
        path,
      };
    case "input_image":
      return readPicture(part, path);
    case "input_file":
    case "input_video":
    case "input_audio":
      return { type: "unsupported", what: type, path };
    default:
      throw wrongField(
        at(path, "type"),
        "has to be input_text, input_image, input_file, output_text or refusal",
        "unsupported_content",
      );
  }
}

function readPicture({ image_url: url }: Fields, path: string): ContentPart {
  if (url === null || url === undefined)
    return { type: "unsupported", what: "a picture by file id", path };
  const address = at(path, "image_url");
  const text = textAt(url, address, LONGEST_PICTURE);
  if (!text.startsWith("data:")) return { type: "unsupported", what: "a picture by address", path };
  return { type: "image", image: pictureIn(text, address), path };
}

function pictureIn(url: string, path: string): ImageBlock {
  // The data is cut off first: it is megabytes, and of no interest to the pattern.
  const comma = url.indexOf(",");
  const [, mediaType] = /^data:([a-z]+\/[a-z0-9.+-]+);base64$/i.exec(url.slice(0, comma)) ?? [];
  if (mediaType === undefined)
    throw wrongField(path, "has to be data:<type>;base64,<data>", "invalid_image");
  try {
    return imageBlock(mediaType.toLowerCase(), url.slice(comma + 1));
  } catch (error) {
    throw wrongField(path, `is of no use: ${thrownMessage(error)}`, "invalid_image");
  }
}
