/** Resource limits, per server and session. */
export const MCP_LIMITS = {
  servers: 32,
  /** Tools of a server. A model can distinguish far fewer. */
  tools: 512,
  pages: 64,
  messageBytes: 10 * 1024 * 1024,
  /** Bytes queued for a server which does not read its input. */
  queuedBytes: 16 * 1024 * 1024,
  schemaCharacters: 64 * 1024,
  schemaDepth: 64,
  descriptionCharacters: 4000,
  /** Characters of all descriptions and schemas of a server: they are stored in the log and sent to the model. */
  catalogCharacters: 1024 * 1024,
  /** Characters of a tool name on the server. */
  nameCharacters: 256,
  stderrBytes: 8 * 1024,
  calls: 8,
  /** Tool calls waiting for a free slot. */
  waitingCalls: 64,
  /** Content items in a result. */
  contentItems: 1000,
  /** Time for parsing a schema or for a check. Reasonable schemas take a few milliseconds. */
  checkMs: 500,
} as const;
