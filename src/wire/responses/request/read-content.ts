import { createImageBlock, type ImageBlock } from "../../../domain/model/image-block.ts";
import { formatThrown } from "../../../domain/errors.ts";
import { joinPath, type Fields, readList, readObject, readString } from "./body-fields.ts";
import type { ContentPart } from "./input-item.ts";
import { createFieldError } from "./request-error.ts";

/** Characters of one text: the limit of the specification. */
export const MAX_TEXT_LENGTH = 10_485_760;
const MAX_PARTS = 1000;
const MAX_IMAGE_LENGTH = 20_971_520;

/** Reads the content of a message or a result: a string, or a list of parts. */
export function readContent(content: unknown, path: string): readonly ContentPart[] {
  if (typeof content === "string")
    return [{ type: "text", text: readString(content, path, MAX_TEXT_LENGTH), path }];
  if (content === null || content === undefined)
    throw createFieldError(
      path,
      "is missing: expected a string or an array of parts",
      "missing_field",
    );
  return readList(content, path, MAX_PARTS).map((part, index) =>
    readPart(readObject(part, `${path}[${index}]`), `${path}[${index}]`),
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
      return {
        type: "text",
        text: readString(part["text"], joinPath(path, "text"), MAX_TEXT_LENGTH),
        path,
      };
    case "refusal":
      return {
        type: "text",
        text: readString(part["refusal"], joinPath(path, "refusal"), MAX_TEXT_LENGTH),
        path,
      };
    case "input_image":
      return readImage(part, path);
    case "input_file":
    case "input_video":
    case "input_audio":
      return { type: "unsupported", kind: type, path };
    default:
      throw createFieldError(
        joinPath(path, "type"),
        "has to be input_text, input_image, input_file, output_text or refusal",
        "unsupported_content",
      );
  }
}

function readImage({ image_url: url }: Fields, path: string): ContentPart {
  if (url === null || url === undefined)
    return { type: "unsupported", kind: "an image by file id", path };
  const address = joinPath(path, "image_url");
  const text = readString(url, address, MAX_IMAGE_LENGTH);
  if (!text.startsWith("data:")) return { type: "unsupported", kind: "an image by URL", path };
  return { type: "image", image: parseImageUrl(text, address), path };
}

function parseImageUrl(url: string, path: string): ImageBlock {
  // The data is cut off before matching, because it may have megabytes.
  const comma = url.indexOf(",");
  const [, mediaType] = /^data:([a-z]+\/[a-z0-9.+-]+);base64$/i.exec(url.slice(0, comma)) ?? [];
  if (mediaType === undefined)
    throw createFieldError(path, "has to be data:<type>;base64,<data>", "invalid_image");
  try {
    return createImageBlock(mediaType.toLowerCase(), url.slice(comma + 1));
  } catch (error) {
    throw createFieldError(path, `is not a valid image: ${formatThrown(error)}`, "invalid_image");
  }
}
