import { createHash } from "node:crypto";
import type { OpenedFile } from "./open-file.ts";

export interface WholeFile {
  readonly bytes: Buffer;
  readonly sha256: string;
}

/** The complete file with its digest. Undefined if the file exceeds the limit. */
export async function readWholeFile(
  file: OpenedFile,
  limit: number,
): Promise<WholeFile | undefined> {
  const bytes = await readBytes(file, limit);
  return bytes && { bytes, sha256: computeSha256(bytes) };
}

/** The complete file. Undefined if the file exceeds the limit. */
export async function readBytes(
  { handle, facts }: OpenedFile,
  limit: number,
): Promise<Buffer | undefined> {
  const size = Number(facts.size);
  const pieces: Buffer[] = [];
  let length = 0;
  // Some files, such as those in `/proc`, report a size of 0 but have content.
  let available = size > 0 ? size + 1 : PIECE_BYTES;
  for (;;) {
    const piece = Buffer.allocUnsafe(Math.min(available, PIECE_BYTES, limit + 1 - length));
    const { bytesRead } = await handle.read(piece, 0, piece.length, length);
    if (bytesRead === 0) break;
    pieces.push(piece.subarray(0, bytesRead));
    length += bytesRead;
    if (length > limit) return undefined;
    if (length === size && bytesRead < piece.length) break;
    available = PIECE_BYTES;
  }
  return Buffer.concat(pieces, length);
}

const PIECE_BYTES = 256 * 1024;

export function computeSha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
