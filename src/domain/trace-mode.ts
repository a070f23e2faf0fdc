/**
 * How a response shows tools that ran here or on the agent's side: as pairs of a call and its output, as calls of an MCP
 * server, as items of our own, or not at all. A call that the caller has to run is a function call item in all of them.
 */
export const TRACE_MODES = ["pairs", "mcp", "extension", "none"] as const;

export type TraceMode = (typeof TRACE_MODES)[number];
