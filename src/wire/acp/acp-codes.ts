/** Error codes of ACP and of bridge hosts, in addition to the codes of JSON-RPC. */
export const ACP_CODES = {
  /** The provider requires credentials. */
  authRequired: -32000,
  /** The named session, file or other resource does not exist. */
  notFound: -32002,
  /**
   * Another client holds the resource, or the resource has ended. ACP has no code for this case or the next; bridge
   * hosts know both.
   */
  conflict: -32010,
  /** The caller lacks permission. */
  accessDenied: -32011,
} as const;
