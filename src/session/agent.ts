import type { Provider } from "../providers/provider.ts";
import type { CallToExamine, Examined, Tool } from "../tools/tool.ts";
import type { BoundAgent } from "./input.ts";

/** An agent that can be run: what decisions know of it, and what they cannot hold. */
export interface Agent extends BoundAgent {
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
  /** For tools that do not look themselves where their paths lead. Without it, those lead nowhere. */
  readonly examine?: (call: CallToExamine) => Promise<Examined>;
  /** Where a session works that named this folder, or none; rejects where it cannot. */
  readonly folderFor?: (named?: string) => Promise<string>;
  /** The same agent with what it has for one session alone, which may change, until it is closed. */
  readonly open?: (place: OpenPlace) => Promise<OpenAgent>;
}

/** The session that an agent is opened for. */
export interface AgentPlace {
  readonly sessionId: string;
  readonly workingDirectory?: string;
}

export interface OpenPlace extends AgentPlace {
  /** To be told of every change. */
  readonly changed: (agent: Agent) => void;
  /** Ends the opening, which rejects with its reason and leaves nothing behind. */
  readonly signal?: AbortSignal;
}

export interface OpenAgent {
  readonly agent: Agent;
  /** How long it should be kept for a session that nobody uses; as long as any session when absent. */
  readonly idleMs?: number;
  readonly close: () => Promise<void>;
}

/** A tool that knows where its paths lead is asked itself; undefined where nobody knows. */
export function examineBy(
  tool: Tool | undefined,
  agent: Agent,
  call: CallToExamine,
): Promise<Examined> | undefined {
  return tool?.examine?.(call) ?? agent.examine?.(call);
}
