/** Made with a key of this machine's user, which the tools of a workspace do not touch. */
export interface Signature {
  readonly keyId: string;
  readonly mac: string;
  /** Which of its session's receipts it is, from 1 on; absent in logs from before they were counted. */
  readonly number?: number;
  /** The `mac` of the one before; null for the first. */
  readonly before?: string | null;
}
