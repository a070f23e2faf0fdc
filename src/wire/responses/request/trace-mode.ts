import { choiceAt } from "./fields.ts";

/**
 * How tools that ran here or on the agent's side are shown: as pairs of a call and its output, as calls of an MCP
 * server, as items of our own, or not at all. A call that the caller has to run is a `function_call` in all of them.
 */
export const TRACE_MODES = ["pairs", "mcp", "extension", "none"] as const;

export type TraceMode = (typeof TRACE_MODES)[number];

/** From a header, a query, a setting or a field of the body; `param` is its name. */
export function readTraceMode(value: unknown, param: string): TraceMode {
  return choiceAt(value, param, TRACE_MODES);
}
