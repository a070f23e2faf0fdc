import { createHash } from "node:crypto";
import type { OpenedFile } from "./open-file.ts";

export interface WholeFile {
  readonly bytes: Buffer;
  readonly sha256: string;
}

/** All of a file with its digest; undefined where it is longer than the limit. */
export async function readWholeFile(
  file: OpenedFile,
  limit: number,
): Promise<WholeFile | undefined> {
  const bytes = await readBytes(file, limit);
  return bytes && { bytes, sha256: computeSha256(bytes) };
}

/** All of a file; undefined where it is longer than the limit. */
export async function readBytes(
  { handle, facts }: OpenedFile,
  limit: number,
): Promise<Buffer | undefined> {
  const size = Number(facts.size);
  const pieces: Buffer[] = [];
  let length = 0;
  // Some files say that they have no bytes, and have many.
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
