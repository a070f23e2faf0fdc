import type { Provider } from "../../../providers/provider.ts";
import type { ToolCallToExamine, Examination, Tool } from "../../../tools/tool.ts";
import type { ConfiguredAgent } from "../../session-input.ts";

/** An agent that can be run: what decisions know of it, and what they cannot hold. */
export interface Agent extends ConfiguredAgent {
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
  /** For tools that do not look themselves where their paths lead. Without it, those lead nowhere. */
  readonly resolvePaths?: (call: ToolCallToExamine) => Promise<Examination>;
  /** Where a session works that named this folder, or none; rejects where it cannot. */
  readonly resolveFolder?: (named?: string) => Promise<string>;
  /** The same agent with what it has for one session alone, which may change, until it is closed. */
  readonly open?: (place: OpenAgentOptions) => Promise<AgentHandle>;
}

/** The session that an agent is opened for. */
export interface AgentLocation {
  readonly sessionId: string;
  readonly workingDirectory?: string;
}

export interface OpenAgentOptions extends AgentLocation {
  /** To be told of every change. */
  readonly onChange: (agent: Agent) => void;
  /** Ends the opening, which rejects with its reason and leaves nothing behind. */
  readonly signal?: AbortSignal;
}

export interface AgentHandle {
  readonly agent: Agent;
  /** How long it should be kept for a session that nobody uses; as long as any session when absent. */
  readonly idleMs?: number;
  readonly close: () => Promise<void>;
}

/** A tool that knows where its paths lead is asked itself; undefined where nobody knows. */
export function resolveToolPaths(
  tool: Tool | undefined,
  agent: Agent,
  call: ToolCallToExamine,
): Promise<Examination> | undefined {
  return tool?.examine?.(call) ?? agent.resolvePaths?.(call);
}
