import { SpanlineError } from "../errors.ts";

/** A picture that somebody shows a model. */
export interface ImageBlock {
  readonly type: "image";
  readonly mediaType: ImageType;
  readonly base64: string;
}

/** What every API of a model takes. */
export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;

export type ImageType = (typeof IMAGE_TYPES)[number];

/** Of one picture, decoded: what Bedrock takes, which takes the least. */
export const MAX_IMAGE_BYTES = 3_750_000;

/** Refuses what no model would take. Whether the bytes are a picture is not looked at. */
export function createImageBlock(mediaType: string, base64: string): ImageBlock {
  const imageType = IMAGE_TYPES.find((type) => type === mediaType);
  if (imageType === undefined) {
    throw createImageError(
      `"${mediaType}" is no picture for a model; use ${IMAGE_TYPES.join(", ")}`,
    );
  }
  if (countBase64Bytes(base64) > MAX_IMAGE_BYTES) {
    throw createImageError(`A picture has more than ${MAX_IMAGE_BYTES} bytes; make it smaller`);
  }
  if (base64.length % 4 !== 0 || !BASE64.test(base64))
    throw createImageError("A picture is not in base64");
  return { type: "image", mediaType: imageType, base64 };
}

/** One class of characters: groups of four would overflow the stack on a large picture. */
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** In place of a picture, for a reader who takes none. */
export function formatImageNote({ mediaType }: Pick<ImageBlock, "mediaType">): string {
  return `(A picture, ${mediaType}, that cannot be shown here.)`;
}

function countBase64Bytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

function createImageError(message: string): SpanlineError {
  return new SpanlineError("invalid_message", message);
}
