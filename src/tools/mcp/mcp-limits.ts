/** What a server may cost us. Each server of a session has these for itself. */
export const MCP_LIMITS = {
  servers: 32,
  /** Tools of one server; a model can tell far fewer apart. */
  tools: 512,
  pages: 64,
  messageBytes: 10 * 1024 * 1024,
  /** What waits to be read by a server that does not read. */
  queuedBytes: 16 * 1024 * 1024,
  schemaCharacters: 64 * 1024,
  schemaDepth: 64,
  descriptionCharacters: 4000,
  /** Of all descriptions and schemas of a server: all of it is in the log, and goes to the model. */
  catalogCharacters: 1024 * 1024,
  /** Of the name that a server gives a tool. */
  nameCharacters: 256,
  stderrBytes: 8 * 1024,
  calls: 8,
  /** Calls that wait for one of those to end. */
  waitingCalls: 64,
  /** Pieces of content in one result. */
  contentItems: 1000,
  /** For reading a schema, or checking a value by it. All that is sane takes a few. */
  checkMs: 500,
} as const;
