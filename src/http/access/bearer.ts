import { createHash, timingSafeEqual } from "node:crypto";
import { readHeader } from "../routing/read-header.ts";
import type { RequestHead } from "../server/http-types.ts";

/**
 * The credential of `Authorization: Bearer …`. Empty for another scheme; undefined if the header is absent or empty.
 */
export function readBearer(request: Pick<RequestHead, "headers">): string | undefined {
  const value = readHeader(request, "authorization");
  if (value === undefined || value === "") return undefined;
  return /^bearer +(\S+)$/i.exec(value)?.[1] ?? "";
}

export function digestSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** Compares in constant time: digests have equal lengths. */
export function matchesSecret(secret: string, digest: Buffer): boolean {
  return timingSafeEqual(digestSecret(secret), digest);
}
