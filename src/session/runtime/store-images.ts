import type { PromptPart } from "../../domain/prompt.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { createImageBlock } from "../../domain/model/image-block.ts";
import type { CommandReply, SubmittedPart, SessionCommand } from "../../domain/session-command.ts";
import { digestBytes } from "../../platform/digest.ts";
import { refuse } from "../refuse-command.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

type StoredCommand =
  | { readonly command: SessionCommand<PromptPart> }
  | { readonly reply: CommandReply };

export interface ImageStorage {
  /** False for a command which will be refused: its images are not stored. */
  readonly isEnabled: () => boolean;
  readonly putBlob: (blobId: string, bytes: Uint8Array) => Promise<void>;
}

/** Stores the images of a command as blobs, named by the digest of their bytes, and returns the command as logged. */
export async function storeImages(
  command: SessionCommand,
  storage: ImageStorage,
): Promise<StoredCommand> {
  try {
    switch (command.type) {
      case "prompt":
        return { command: { ...command, content: await storeParts(command.content, storage) } };
      case "inject":
        return { command: { ...command, content: await storeParts(command.content, storage) } };
      case "replace-inject":
        return { command: { ...command, content: await storeParts(command.content, storage) } };
      case "submit-results": {
        const { content: submitted, ...rest } = command;
        const content = submitted && (await storeParts(submitted, storage));
        return { command: { ...rest, ...omitUndefined({ content }) } };
      }
      default:
        return { command };
    }
  } catch (error) {
    if (!(error instanceof SpanlineError) || error.code !== "invalid_message") throw error;
    return { reply: refuse("invalid_message", error.message) };
  }
}

async function storeParts(
  content: readonly SubmittedPart[],
  { isEnabled, putBlob }: ImageStorage,
): Promise<PromptPart[]> {
  if (content.filter(({ type }) => type === "image").length > MAX_IMAGES) {
    throw new SpanlineError("invalid_message", `A prompt has at most ${MAX_IMAGES} images`);
  }
  const parts: PromptPart[] = [];
  for (const part of content) {
    if (part.type === "text") {
      parts.push(part);
      continue;
    }
    const { mediaType, base64 } = createImageBlock(part.mediaType, part.base64);
    const bytes = Buffer.from(base64, "base64");
    const blobId = `blob_${digestBytes(bytes)}`;
    if (isEnabled()) await putBlob(blobId, bytes);
    parts.push({ type: "image", mediaType, blobId, bytes: bytes.length });
  }
  return parts;
}

const MAX_IMAGES = 20;
