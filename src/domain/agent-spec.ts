import type { JsonObject } from "../data/json.ts";
import type { AgentCommand } from "./agent-command.ts";
import type { Policy } from "./policy/policy.ts";
import type { ToolTraits } from "./tools/tool-traits.ts";

/** What decisions need to know of an agent: data alone. */
export interface AgentSpec {
  readonly name: string;
  readonly provider: ProviderSpec;
  readonly tools: readonly ToolSpec[];
  readonly approvals: ApprovalRules;
  /** Where there is one, it decides instead of the lists. */
  readonly policy?: Policy;
  /** What the session's tools may change, for whoever keeps books; absent where nobody said. */
  readonly mutationScope?: MutationScope;
  /** The folder that paths begin in where a session names none; absent where nobody said. */
  readonly workspace?: string;
  readonly caps: TurnCaps;
  readonly onLost: LostInvocationPolicy;
  readonly settle: QuiescePolicy;
  /** How long an approval waits for its answer. */
  readonly approvalMs: number;
  /** How long a paused turn waits for its results; a day where nobody said. */
  readonly resultsMs?: number;
  /** What follows a tool call whose arguments are not a JSON object. Default: `report`. */
  readonly invalidToolInput?: InvalidToolInput;
  /** What becomes of pictures in prompts; where nobody said, they are sent if the provider takes them, else refused. */
  readonly images?: ImageHandling;
  /** How many tokens the model can have before it; absent where nobody said. */
  readonly contextTokens?: number;
  /** What people can have said by a word. */
  readonly commands?: readonly AgentCommand[];
  /** A turn without a call of this tool is asked again. */
  readonly terminalTool?: { readonly name: string; readonly maxReprompts: number };
}

export interface ProviderSpec {
  readonly name: string;
  readonly injectionPoints: readonly string[];
  readonly effectFree: boolean;
  readonly canStop: boolean;
  /** `false` when its agent knows nothing but what a call brings: then each brings what the log has. */
  readonly keepsHistory?: boolean;
  readonly capabilities?: ProviderCapabilities;
  /** After this much quiet, or this much age, the other side has let the conversation go. */
  readonly idleMs?: number;
  readonly lifetimeMs?: number;
}

/** What a prompt can bring along for its turn. What is absent would be lost, so that it is refused before. */
export interface ProviderCapabilities {
  /** If absent, the agent is sent them as text before the prompt. */
  readonly instructions?: true;
  readonly tools?: true;
  readonly allowedTools?: true;
  readonly maxOutputTokens?: true;
  readonly images?: true;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Running it twice does what running it once does. */
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  /** Absent where nobody said: rules take it for the most dangerous. */
  readonly traits?: ToolTraits;
}

/** Names or patterns with `*`. Denying beats asking beats allowing; `default` applies to tools that no list names. */
export interface ApprovalRules {
  readonly deny: readonly string[];
  readonly ask: readonly string[];
  readonly allow: readonly string[];
  readonly default: "ask" | "allow" | "deny";
}

export interface TurnCaps {
  /** Calls of the provider. */
  readonly steps: number;
  /** Without the time in which people were waited for. */
  readonly seconds: number;
  readonly tokens: number | null;
  readonly toolCalls: number;
  /** Tools that run at the same time. */
  readonly parallelTools: number;
}

/**
 * What follows a lost call: a question to the approver; a visible message to the same conversation; a new
 * conversation from the log; the same call again, where that has no effects.
 */
export type LostInvocationPolicy = "ask" | "continue" | "reseed" | "resend";

/** How an upstream that may still be working is brought to rest before the next call. */
export type QuiescePolicy = "wait" | "stop" | "reseed";

/** `report`: the model gets an error result and can call the tool again. `fail`: the turn fails. The tool never runs. */
export type InvalidToolInput = "report" | "fail";

/** `describe`: the model is told in words that there is one. */
export type ImageHandling = "reject" | "describe" | "send";

export type MutationScope = "read_only" | "apply_workspace";
