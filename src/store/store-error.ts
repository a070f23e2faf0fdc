import { SpanlineError } from "../domain/errors.ts";
import type { Lease } from "./log-store.ts";

/** What a store refuses, and why. */
export class StoreError extends SpanlineError {}

export function createNoSessionError(sessionId: string): StoreError {
  return new StoreError("not_found", `There is no session ${sessionId}`, {
    details: { sessionId },
  });
}

export function createLeaseHeldError(
  sessionId: string,
  owner: string,
  leasedUntil: number,
): StoreError {
  return new StoreError("lease_held", `${owner} has session ${sessionId}`, {
    details: { sessionId, owner, until: leasedUntil },
  });
}

export function createStaleLeaseError({ sessionId, owner, epoch }: Lease): StoreError {
  return new StoreError("stale_lease", `${owner} no longer has session ${sessionId}`, {
    details: { sessionId, owner, epoch },
  });
}

export function createWrongSeqError(sessionId: string, expected: number, seq: number): StoreError {
  const message = `The log of session ${sessionId} is at ${seq}, not at ${expected}`;
  return new StoreError("wrong_seq", message, { details: { sessionId, expected, seq } });
}

export function createBlobTakenError(sessionId: string, blobId: string): StoreError {
  const message = `Session ${sessionId} has other bytes under ${blobId}`;
  return new StoreError("blob_taken", message, { details: { sessionId, blobId } });
}

export function createStoreClosedError(): StoreError {
  return new StoreError("store_closed", "The store is closed");
}
