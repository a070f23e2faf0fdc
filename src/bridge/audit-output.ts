import type { Envelope } from "../domain/events/envelope.ts";
import { digestBytes } from "../platform/digest.ts";
import type { BlobStore } from "../store/blob-store.ts";
import type { AuditGap } from "./audit/audit-log.ts";

/**
 * Compares the stored output of a tool with the digest in its signed result. Undefined if both match, or if the event
 * has no stored output.
 */
export async function auditOutput(
  sessions: Pick<BlobStore, "readBlob">,
  { sessionId, seq, at, event }: Envelope,
): Promise<AuditGap | undefined> {
  if (event.type !== "tool.finished" || event.blobId === undefined) return undefined;
  const { toolCallId, blobId, blobDigest } = event;
  const bytes = await sessions.readBlob(sessionId, blobId);
  const isSame = bytes !== undefined && digestBytes(bytes) === blobDigest;
  return isSame ? undefined : { seq, at, toolCallId, what: "output" };
}
