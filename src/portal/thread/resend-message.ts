import type {
  ActionResult,
  OutgoingImage,
  OutgoingMessage,
  SessionActions,
} from "../state/session-actions.ts";
import type { ImagePart, PromptPart } from "../../domain/prompt.ts";

/** Sends a message again, with its images. `text` replaces the text. */
export async function resendMessage(
  actions: SessionActions,
  content: readonly PromptPart[],
  text = joinText(content),
): Promise<ActionResult> {
  const images: OutgoingImage[] = [];
  for (const part of content) {
    if (part.type !== "image") continue;
    const image = await readImage(actions.blobUrl(part.blobId), part, images.length + 1);
    if (image === null) return { ok: false, error: { code: "not_found", message: MISSING_IMAGE } };
    images.push(image);
  }
  const message: OutgoingMessage = images.length === 0 ? { text } : { text, images };
  return actions.prompt(message);
}

const MISSING_IMAGE = "An image of the message could not be read, so the message was not sent";

export function joinText(content: readonly PromptPart[]): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

/** Null if the image could not be read. */
async function readImage(
  url: string,
  { mediaType }: ImagePart,
  number: number,
): Promise<OutgoingImage | null> {
  try {
    const response = await fetch(url);
    if (!response.ok) return null;
    const data = encodeBase64(new Uint8Array(await response.arrayBuffer()));
    return { name: `image-${number}`, mediaType, data };
  } catch {
    return null;
  }
}

/** In pieces: a function call has a limit for its number of arguments. */
function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += PIECE)
    binary += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(binary);
}

const PIECE = 0x8000;
