import type { PromptPart } from "../domain/agent-event.ts";
import { SpanlineError } from "../domain/errors.ts";
import { imageBlock } from "../domain/image-block.ts";
import type { CommandReply, GivenPart, SessionCommand } from "../domain/session-command.ts";
import { digestOfBytes } from "../platform/digest.ts";
import { refused } from "./refused.ts";

type Kept = { readonly command: SessionCommand<PromptPart> } | { readonly reply: CommandReply };

export interface ImageKeeping {
  /** Nothing is kept for somebody who will be refused. */
  readonly isWanted: boolean;
  readonly putBlob: (blobId: string, bytes: Uint8Array) => Promise<void>;
}

/** The command as the log has it: its pictures are kept first, each under a name that its bytes give it. */
export async function keepImages(command: SessionCommand, keeping: ImageKeeping): Promise<Kept> {
  if (command.type !== "prompt" && command.type !== "give-results") return { command };
  try {
    const kept = command.content && (await keptParts(command.content, keeping));
    if (command.type === "prompt") return { command: { ...command, content: kept ?? [] } };
    const { content: _, ...rest } = command;
    return { command: { ...rest, ...(kept !== undefined && { content: kept }) } };
  } catch (error) {
    if (!(error instanceof SpanlineError) || error.code !== "invalid_message") throw error;
    return { reply: refused("invalid_message", error.message) };
  }
}

async function keptParts(
  content: readonly GivenPart[],
  { isWanted, putBlob }: ImageKeeping,
): Promise<PromptPart[]> {
  if (content.filter(({ type }) => type === "image").length > MAX_IMAGES) {
    throw new SpanlineError("invalid_message", `A prompt takes at most ${MAX_IMAGES} pictures`);
  }
  const parts: PromptPart[] = [];
  for (const part of content) {
    if (part.type === "text") {
      parts.push(part);
      continue;
    }
    const { mediaType, base64 } = imageBlock(part.mediaType, part.base64);
    const bytes = Buffer.from(base64, "base64");
    const blobId = `blob_${digestOfBytes(bytes)}`;
    if (isWanted) await putBlob(blobId, bytes);
    parts.push({ type: "image", mediaType, blobId, bytes: bytes.length });
  }
  return parts;
}

const MAX_IMAGES = 20;
