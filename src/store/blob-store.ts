/**
 * Bytes that belong to a session and are too large for an event: images, long tool output, folded history.
 *
 * ```ts
 * await store.putBlob("ses_1", "img_1", bytes);
 * const stored = await store.readBlob("ses_1", "img_1");
 * ```
 *
 * The caller chooses the id. A blob never changes and is deleted with its session.
 */
export interface BlobStore {
  /**
   * Stores a blob. Storing the same bytes again has no effect. Throws `blob_taken` if the id has other bytes, and
   * `not_found` if the session does not exist.
   */
  putBlob(sessionId: string, blobId: string, bytes: Uint8Array): Promise<void>;
  /** Undefined if the session or the blob does not exist. */
  readBlob(sessionId: string, blobId: string): Promise<Uint8Array | undefined>;
}
