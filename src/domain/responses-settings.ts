/** How `/v1` treats sessions and callers; the configuration sets these under `serve`. */
export interface ResponsesSettings {
  /** Whether a session that is not known here may be gone on with under its id, where the agent may know it. */
  readonly adoptSessions: boolean;
  /** What becomes of a conversation that nobody here knows. */
  readonly foreignHistory: "replay" | "reject" | "ignore";
  /** Agents that are told the whole conversation every time: who names a session is refused, but for results of its open calls. */
  readonly statelessAgents: readonly string[];
  /** Trace mode of responses whose request and key name none. */
  readonly trace: TraceMode;
  /** What becomes of a turn whose caller hangs up, and that nobody else follows. */
  readonly onDisconnect: "cancel" | "finish";
  /** How long a prompt waits for the turn before it. */
  readonly queueMs: number;
  /** How long an approval waits for somebody when nobody is there but the caller. */
  readonly approvalMs: number;
  /** How long an answer is held back so that a failure can still be its status. */
  readonly holdMs: number;
  readonly heartbeatMs: number;
  /** A reader that takes nothing for so long is cut off. */
  readonly stalledMs: number;
}

/**
 * How a response shows tools that ran here or on the agent's side: as pairs of a call and its output, as calls of an MCP
 * server, as items of our own, or not at all. A call that the caller has to run is a function call item in all of them.
 */
export const TRACE_MODES = ["pairs", "mcp", "extension", "none"] as const;

export type TraceMode = (typeof TRACE_MODES)[number];
