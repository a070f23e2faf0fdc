/** ACP's own codes beside those of JSON-RPC. */
export const ACP_CODES = {
  /** A service does not know who asks. */
  authRequired: -32000,
  /** What was named is not there. */
  notFound: -32002,
} as const;
