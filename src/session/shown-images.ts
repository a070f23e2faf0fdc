import type { ImagePart } from "../domain/agent-event.ts";
import { estimateBytes } from "../domain/estimate-bytes.ts";
import type { ImageBlock } from "../domain/image-block.ts";
import type { ModelBlock, ModelMessage } from "../domain/model-request.ts";
import { pictureText } from "../domain/part-text.ts";
import { isKept, type History, type SpokenMessage } from "./conversation.ts";

export type ReadBlob = (blobId: string) => Promise<Uint8Array | undefined>;

/** What was said, with its pictures. One whose bytes are not there any more is told of. */
export async function shownMessages(
  messages: readonly SpokenMessage[],
  readBlob: ReadBlob,
): Promise<readonly ModelMessage[]> {
  const shownOnes: ModelMessage[] = [];
  for (const message of messages)
    shownOnes.push(isWithoutImages(message) ? message : await withImages(message, readBlob));
  return shownOnes;
}

/**
 * The shown form of a history that only grows. Messages that were shown before are the same objects, and only those since
 * are looked at.
 */
export class ShownHistory {
  readonly #source: SpokenMessage[] = [];
  readonly #shown: ModelMessage[] = [];
  #imageCharacters = 0;
  #bytes = 0;

  /** Estimated memory of the messages. */
  get bytes(): number {
    return this.#bytes;
  }

  async show(
    { messages, stableCount }: History,
    readBlob: ReadBlob,
  ): Promise<readonly ModelMessage[]> {
    const count = this.#knownCount(messages, stableCount);
    const rest = await shownMessages(messages.slice(count), readBlob);
    const whole = [...this.#shown.slice(0, count), ...rest];
    for (let index = this.#source.length; index < stableCount; index++)
      if (!this.#keep(messages[index], whole[index])) break;
    return whole;
  }

  /** How many of the first messages were shown before. Compares by identity. */
  #knownCount(messages: readonly SpokenMessage[], stableCount: number): number {
    const source = this.#source;
    const most = Math.min(source.length, stableCount);
    for (let index = 0; index < most; index++) {
      if (source[index] === messages[index]) continue;
      source.length = 0;
      this.#shown.length = 0;
      this.#imageCharacters = 0;
      this.#bytes = 0;
      return 0;
    }
    return most;
  }

  /** False beyond the limit: from there on, images are read again for each request. */
  #keep(source: SpokenMessage | undefined, shownOne: ModelMessage | undefined): boolean {
    if (source === undefined || shownOne === undefined) return false;
    const sizes = shownOne.blocks.map((block) =>
      block.type === "image" ? block.base64.length : 0,
    );
    const size = sizes.reduce((sum, length) => sum + length, 0);
    if (this.#imageCharacters + size > MAX_IMAGE_CHARACTERS) return false;
    this.#imageCharacters += size;
    this.#bytes += estimateBytes(shownOne);
    this.#source.push(source);
    this.#shown.push(shownOne);
    return true;
  }
}

/** Of one session, in base64. Model APIs limit a request to 20 to 32 MB. */
const MAX_IMAGE_CHARACTERS = 16_000_000;

function isWithoutImages(message: SpokenMessage): message is SpokenMessage & ModelMessage {
  return !message.blocks.some(isKept);
}

async function withImages(
  { role, blocks }: SpokenMessage,
  readBlob: ReadBlob,
): Promise<ModelMessage> {
  const shownBlocks = blocks.map(async (block) =>
    isKept(block) ? ((await shown(block, readBlob)) ?? note(block)) : block,
  );
  return { role, blocks: await Promise.all(shownBlocks) };
}

/** Those that are there, and what is to be said of the others. */
export async function shownImages(
  parts: readonly ImagePart[],
  readBlob: ReadBlob,
): Promise<{ readonly images: readonly ImageBlock[]; readonly notes: readonly string[] }> {
  const found = await Promise.all(
    parts.map(async (part) => ({ part, image: await shown(part, readBlob) })),
  );
  return {
    images: found.flatMap(({ image }) => image ?? []),
    notes: found.flatMap(({ part, image }) => (image === undefined ? [pictureText(part)] : [])),
  };
}

async function shown(
  { mediaType, blobId }: ImagePart,
  readBlob: ReadBlob,
): Promise<ImageBlock | undefined> {
  const bytes = await readBlob(blobId);
  if (bytes === undefined) return undefined;
  return { type: "image", mediaType, base64: Buffer.from(bytes).toString("base64") };
}

function note(part: ImagePart): ModelBlock {
  return { type: "text", text: pictureText(part) };
}
