import type { ImagePart } from "../domain/agent-event.ts";
import type { ImageBlock } from "../domain/image-block.ts";
import type { ModelBlock, ModelMessage } from "../domain/model-request.ts";
import { pictureText } from "../domain/part-text.ts";
import { isKept, type SpokenMessage } from "./conversation.ts";

export type ReadBlob = (blobId: string) => Promise<Uint8Array | undefined>;

/** What was said, with its pictures. One whose bytes are not there any more is told of. */
export function shownMessages(
  messages: readonly SpokenMessage[],
  readBlob: ReadBlob,
): Promise<ModelMessage[]> {
  return Promise.all(
    messages.map(async ({ role, blocks }) => ({
      role,
      blocks: await Promise.all(
        blocks.map(async (block) =>
          isKept(block) ? ((await shown(block, readBlob)) ?? note(block)) : block,
        ),
      ),
    })),
  );
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
