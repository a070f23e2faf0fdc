import { SpanlineError } from "../errors.ts";

/** An image for a model. `base64` is padded and has no `data:` prefix. */
export interface ImageBlock {
  readonly type: "image";
  readonly mediaType: ImageType;
  readonly base64: string;
}

/** Image types accepted by every supported model API. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

export type ImageType = (typeof IMAGE_TYPES)[number];

/** Decoded bytes per image. Bedrock's limit, the lowest of the supported APIs. */
export const MAX_IMAGE_BYTES = 3_750_000;

/**
 * Creates an image block. Throws `invalid_message` for a type, size or encoding which no model accepts. The bytes are
 * not checked to be an image.
 */
export function createImageBlock(mediaType: string, base64: string): ImageBlock {
  const imageType = IMAGE_TYPES.find((type) => type === mediaType);
  if (imageType === undefined) {
    throw createImageError(
      `"${mediaType}" is not an image type for models: expected ${IMAGE_TYPES.join(", ")}`,
    );
  }
  if (countBase64Bytes(base64) > MAX_IMAGE_BYTES) {
    throw createImageError(`An image has more than ${MAX_IMAGE_BYTES} bytes. Fix: make it smaller`);
  }
  if (!isPaddedBase64(base64)) throw createImageError("An image is not valid base64");
  return { type: "image", mediaType: imageType, base64 };
}

/** Searches for the first other character: a pattern for the whole text overflows the stack on a large image. */
function isPaddedBase64(text: string): boolean {
  if (text === "" || text.length % 4 !== 0) return false;
  const end = text.search(OTHER_CHARACTER);
  return end === -1 || (end > 0 && /^={1,2}$/.test(text.slice(end)));
}

const OTHER_CHARACTER = /[^A-Za-z0-9+/]/;

/** Text in place of an image, for a reader without image support. */
export function formatImageNote({ mediaType }: Pick<ImageBlock, "mediaType">): string {
  return `(An image, ${mediaType}; it cannot be shown here.)`;
}

function countBase64Bytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

function createImageError(message: string): SpanlineError {
  return new SpanlineError("invalid_message", message);
}
