/** Created with a key of this machine's user. Workspace tools cannot access the key. */
export interface Signature {
  readonly keyId: string;
  readonly mac: string;
  /** Position among the session's receipts, starting at 1. Absent in logs written before receipts were numbered. */
  readonly number?: number;
  /** The `mac` of the previous receipt. Null for the first. */
  readonly before?: string | null;
}
