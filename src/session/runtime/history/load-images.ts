import { type ImagePart, formatImagePart } from "../../../domain/prompt.ts";
import { estimateBytes } from "../../../data/estimate-bytes.ts";
import type { ImageBlock } from "../../../domain/model/image-block.ts";
import type { ModelBlock, ModelMessage } from "../../../domain/model/model-request.ts";
import {
  isStoredImage,
  type ConversationHistory,
  type ConversationMessage,
} from "./conversation.ts";

export type ReadBlob = (blobId: string) => Promise<Uint8Array | undefined>;

/** Loads the images of messages. A missing image becomes a text note. */
export async function loadMessageImages(
  messages: readonly ConversationMessage[],
  readBlob: ReadBlob,
): Promise<readonly ModelMessage[]> {
  const loadedMessages: ModelMessage[] = [];
  for (const message of messages)
    loadedMessages.push(hasNoStoredImages(message) ? message : await loadImages(message, readBlob));
  return loadedMessages;
}

/** A growing history with loaded images. Messages loaded before are the same objects; only new ones are processed. */
export class LoadedHistory {
  readonly #source: ConversationMessage[] = [];
  readonly #shown: ModelMessage[] = [];
  #imageCharacters = 0;
  #bytes = 0;

  /** Estimated bytes of memory. */
  get bytes(): number {
    return this.#bytes;
  }

  async load(
    { messages, stableCount }: ConversationHistory,
    readBlob: ReadBlob,
  ): Promise<readonly ModelMessage[]> {
    const count = this.#knownCount(messages, stableCount);
    const rest = await loadMessageImages(messages.slice(count), readBlob);
    const whole = [...this.#shown.slice(0, count), ...rest];
    for (let index = this.#source.length; index < stableCount; index++)
      if (!this.#keep(messages[index], whole[index])) break;
    return whole;
  }

  /** Number of leading messages already loaded. Compares by identity. */
  #knownCount(messages: readonly ConversationMessage[], stableCount: number): number {
    const source = this.#source;
    const sharedCount = Math.min(source.length, stableCount);
    for (let index = 0; index < sharedCount; index++) {
      if (source[index] === messages[index]) continue;
      source.length = 0;
      this.#shown.length = 0;
      this.#imageCharacters = 0;
      this.#bytes = 0;
      return 0;
    }
    return sharedCount;
  }

  /** False beyond the limit: later images are read again for each request. */
  #keep(source: ConversationMessage | undefined, loadedMessage: ModelMessage | undefined): boolean {
    if (source === undefined || loadedMessage === undefined) return false;
    const sizes = loadedMessage.blocks.map((block) =>
      block.type === "image" ? block.base64.length : 0,
    );
    const size = sizes.reduce((sum, length) => sum + length, 0);
    if (this.#imageCharacters + size > MAX_IMAGE_CHARACTERS) return false;
    this.#imageCharacters += size;
    this.#bytes += estimateBytes(loadedMessage);
    this.#source.push(source);
    this.#shown.push(loadedMessage);
    return true;
  }
}

/** Base64 characters per session. Model APIs limit a request to 20 to 32 MB. */
const MAX_IMAGE_CHARACTERS = 16_000_000;

function hasNoStoredImages(
  message: ConversationMessage,
): message is ConversationMessage & ModelMessage {
  return !message.blocks.some(isStoredImage);
}

async function loadImages(
  { role, blocks }: ConversationMessage,
  readBlob: ReadBlob,
): Promise<ModelMessage> {
  const loadedBlocks = blocks.map(async (block) =>
    isStoredImage(block) ? ((await loadImage(block, readBlob)) ?? createImageNote(block)) : block,
  );
  return { role, blocks: await Promise.all(loadedBlocks) };
}

/** Loads images. Returns text notes for missing ones. */
export async function loadImageParts(
  parts: readonly ImagePart[],
  readBlob: ReadBlob,
): Promise<{ readonly images: readonly ImageBlock[]; readonly notes: readonly string[] }> {
  const loadedParts = await Promise.all(
    parts.map(async (part) => ({ part, image: await loadImage(part, readBlob) })),
  );
  return {
    images: loadedParts.flatMap(({ image }) => image ?? []),
    notes: loadedParts.flatMap(({ part, image }) =>
      image === undefined ? [formatImagePart(part)] : [],
    ),
  };
}

async function loadImage(
  { mediaType, blobId }: ImagePart,
  readBlob: ReadBlob,
): Promise<ImageBlock | undefined> {
  const bytes = await readBlob(blobId);
  if (bytes === undefined) return undefined;
  return { type: "image", mediaType, base64: Buffer.from(bytes).toString("base64") };
}

function createImageNote(part: ImagePart): ModelBlock {
  return { type: "text", text: formatImagePart(part) };
}
