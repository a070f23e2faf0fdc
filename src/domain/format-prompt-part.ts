import type { ImagePart, PromptPart } from "./prompt.ts";

/** A part of a prompt in words: for readers who take no pictures. */
export function formatPromptPart(part: PromptPart): string {
  return part.type === "text" ? part.text : formatImagePart(part);
}

/** What there is to know of a picture without seeing it. */
export function formatImagePart({ mediaType, bytes, blobId }: ImagePart): string {
  return `(A picture, ${mediaType}, ${bytes} bytes, kept as ${blobId}. It cannot be shown here.)`;
}
