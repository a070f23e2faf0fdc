/** The codes of ACP and its hosts beside those of JSON-RPC. */
export const ACP_CODES = {
  /** A service does not know who asks. */
  authRequired: -32000,
  /** What was named is not there. */
  notFound: -32002,
  /** Somebody else has it, or it is over. ACP has no number for these two; hosts of the Harn bridge know them. */
  conflict: -32010,
  /** Whoever asks may not. */
  accessDenied: -32011,
} as const;
