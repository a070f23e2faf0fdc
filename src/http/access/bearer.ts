import { createHash, timingSafeEqual } from "node:crypto";
import { readHeader } from "../routing/read-header.ts";
import type { RequestHead } from "../server/http-types.ts";

/** What `Authorization: Bearer …` holds; empty when it holds something else, undefined when there is nothing. */
export function readBearer(request: Pick<RequestHead, "headers">): string | undefined {
  const value = readHeader(request, "authorization");
  if (value === undefined || value === "") return undefined;
  return /^bearer +(\S+)$/i.exec(value)?.[1] ?? "";
}

export function digestSecret(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

/** Digests have one length, and take the same time to compare wherever they differ. */
export function matchesSecret(secret: string, digest: Buffer): boolean {
  return timingSafeEqual(digestSecret(secret), digest);
}
