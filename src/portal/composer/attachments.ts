import type { AgentSpec } from "../../domain/agent-spec.ts";
import { IMAGE_TYPES, MAX_IMAGE_BYTES } from "../../domain/model/image-block.ts";

/** Images per message. */
const MAX_IMAGES = 5;

/** Bytes of a message as JSON. The server's limit is a little higher. */
const MAX_MESSAGE_BYTES = 8_000_000;

/** Characters per message. */
const MAX_TEXT_LENGTH = 500_000;

/** A file which a person wants to attach. */
export interface OfferedFile {
  readonly name: string;
  /** The media type. Empty if the browser does not know the type. */
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

export interface FileChoice<File extends OfferedFile> {
  readonly accepted: readonly File[];
  /** The reason of each refusal, as a sentence. */
  readonly problems: readonly string[];
}

/** Chooses the files which fit into a message together with the attached files. */
export function chooseFiles<File extends OfferedFile>(
  attached: readonly OfferedFile[],
  offered: readonly File[],
): FileChoice<File> {
  const accepted: File[] = [];
  const problems: string[] = [];
  let bytes = attached.reduce((sum, { size }) => sum + countBase64(size), 0);
  for (const file of offered) {
    const problem =
      findFileProblem(file) ??
      findTotalProblem(file, attached.length + accepted.length, bytes + countBase64(file.size));
    if (problem !== undefined) problems.push(problem);
    else {
      accepted.push(file);
      bytes += countBase64(file.size);
    }
  }
  return { accepted, problems };
}

function findFileProblem({ name, type, size }: OfferedFile): string | undefined {
  if (!IMAGE_TYPES.some((known) => known === type))
    return `${name} is not a supported image: expected PNG, JPEG, GIF or WebP`;
  if (size === 0) return `${name} is empty`;
  if (size > MAX_IMAGE_BYTES)
    return `${name} is too large (${formatMegabytes(size)}): expected at most ${formatMegabytes(MAX_IMAGE_BYTES)}. Fix: make it smaller`;
  return undefined;
}

function findTotalProblem(
  { name }: OfferedFile,
  images: number,
  bytes: number,
): string | undefined {
  if (images >= MAX_IMAGES)
    return `${name} was left out: a message has at most ${MAX_IMAGES} images`;
  if (bytes > MAX_MESSAGE_BYTES)
    return `${name} was left out: a message has at most ${formatMegabytes(MAX_MESSAGE_BYTES)} in total`;
  return undefined;
}

/** Bytes of a file in base64. */
function countBase64(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns why a message cannot be sent. Undefined for a valid message. */
export function findMessageProblem(
  text: string,
  images: readonly OfferedFile[],
): string | undefined {
  if (text.length > MAX_TEXT_LENGTH)
    return `The message has ${text.length} characters: expected at most ${MAX_TEXT_LENGTH}`;
  // A character takes up to 3 bytes in UTF-8, and 6 as an escape.
  const bytes = images.reduce((sum, { size }) => sum + countBase64(size), 0) + text.length * 3;
  return bytes > MAX_MESSAGE_BYTES
    ? `The message is too large: expected at most ${formatMegabytes(MAX_MESSAGE_BYTES)} with its images`
    : undefined;
}

/** Returns why the agent does not accept images. Undefined if images are accepted, or if the definition is unknown. */
export function findImageRefusal(
  spec: Pick<AgentSpec, "images" | "provider"> | null,
): string | undefined {
  if (spec === null) return undefined;
  const { images, provider } = spec;
  const handling = images ?? (provider.capabilities?.images === true ? "send" : "reject");
  return handling === "reject" ? "This agent does not accept images" : undefined;
}
