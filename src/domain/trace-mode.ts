/**
 * How a response presents tools which ran here or at the provider: as pairs of call and output, as MCP calls, as
 * extension items, or not at all. A tool call the caller must run is a function call item in every mode.
 */
export const TRACE_MODES = ["pairs", "mcp", "extension", "none"] as const;

export type TraceMode = (typeof TRACE_MODES)[number];
