import type { ImagePart, PromptPart } from "./prompt.ts";

/** Formats a prompt part as text, for readers without image support. */
export function formatPromptPart(part: PromptPart): string {
  return part.type === "text" ? part.text : formatImagePart(part);
}

/** Describes an image by its type and size. */
export function formatImagePart({ mediaType, bytes, blobId }: ImagePart): string {
  return `(An image, ${mediaType}, ${bytes} bytes, stored as ${blobId}. It cannot be shown here.)`;
}
