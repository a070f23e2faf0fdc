/** How `/v1` treats sessions and callers; the configuration sets these under `serve`. */
export interface ResponsesSettings {
  /**
   * Whether a request may continue a session id which is unknown here, because the provider may know the upstream
   * session.
   */
  readonly adoptSessions: boolean;
  /** Treatment of a conversation in the request which is not in the log of a session here. */
  readonly foreignHistory: "replay" | "reject" | "ignore";
  /**
   * Agents whose callers send the whole conversation with every request. Requests with a session id are refused, except
   * results for its open tool calls.
   */
  readonly statelessAgents: readonly string[];
  /** Trace mode of responses if neither the request nor the API key sets one. */
  readonly trace: TraceMode;
  /** Action on a running turn when its caller disconnects and no other client follows it. */
  readonly onDisconnect: "cancel" | "finish";
  /** Milliseconds a prompt waits for the running turn to finish. */
  readonly queueMs: number;
  /** Milliseconds an approval request waits while no client but the caller is attached. */
  readonly approvalMs: number;
  /** Milliseconds a response is delayed, so an early failure can still set its HTTP status. */
  readonly holdMs: number;
  readonly heartbeatMs: number;
  /** Milliseconds. A client which reads nothing for this long is disconnected. */
  readonly stalledMs: number;
}

/**
 * How a response shows tools that ran here or on the agent's side: as pairs of a call and its output, as calls of an MCP
 * server, as items of our own, or not at all. A call which the caller has to run is a function call item in all of them.
 */
export const TRACE_MODES = ["pairs", "mcp", "extension", "none"] as const;

export type TraceMode = (typeof TRACE_MODES)[number];
