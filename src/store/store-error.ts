import { SpanlineError } from "../domain/errors.ts";
import type { Lease } from "./log-store.ts";
import { formatUnknownName } from "../text/unknown-name.ts";

/** A refused store operation. `code` and `message` give the reason. */
export class StoreError extends SpanlineError {}

export function createNoSessionError(sessionId: string): StoreError {
  return new StoreError("not_found", formatUnknownName("Session", sessionId), {
    details: { sessionId },
  });
}

export function createLeaseHeldError(
  sessionId: string,
  owner: string,
  leasedUntil: number,
): StoreError {
  return new StoreError("lease_held", `Session ${sessionId} is leased to ${owner}`, {
    details: { sessionId, owner, until: leasedUntil },
  });
}

export function createStaleLeaseError({ sessionId, owner, epoch }: Lease): StoreError {
  return new StoreError("stale_lease", `${owner} no longer has the lease of session ${sessionId}`, {
    details: { sessionId, owner, epoch },
  });
}

export function createWrongSeqError(sessionId: string, expected: number, seq: number): StoreError {
  const message = `The log of session ${sessionId} ends at ${seq}: expected ${expected}`;
  return new StoreError("wrong_seq", message, { details: { sessionId, expected, seq } });
}

export function createBlobTakenError(sessionId: string, blobId: string): StoreError {
  const message = `Blob ${blobId} of session ${sessionId} already exists with other bytes`;
  return new StoreError("blob_taken", message, { details: { sessionId, blobId } });
}

export function createStoreClosedError(): StoreError {
  return new StoreError("store_closed", "The store is closed");
}
