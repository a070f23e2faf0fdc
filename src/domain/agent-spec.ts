import type { JsonObject } from "../data/json.ts";
import type { DaemonSpec } from "./daemon.ts";
import type { AgentCommand } from "./slash-commands.ts";
import type { AgentBudgets, BudgetCaps } from "./budget.ts";
import type { Policy } from "./policy/policy.ts";
import type { PolicyLists } from "./policy/policy-lists.ts";
import type { ToolTraits } from "./tools/tool-traits.ts";
import type { CompactionSpec } from "./transcript/compaction.ts";
import type { ProjectionSpec } from "./transcript/projection.ts";

/** The settings of an agent on which decisions depend. Plain data: the log carries them in `agent.configured`. */
export interface AgentSpec {
  readonly name: string;
  readonly provider: ProviderSpec;
  readonly tools: readonly ToolSpec[];
  readonly approvals: ApprovalRules;
  /** Decides in place of `approvals`. Absent: `approvals` decides. */
  readonly policy?: Policy;
  /** The changes a session may make, for hosts which audit sessions. Absent if not configured. */
  readonly mutationScope?: MutationScope;
  /** Base folder of relative paths in sessions without a working directory. Absent if not configured. */
  readonly workspace?: string;
  readonly caps: TurnCaps;
  /** Absent: no budgets. */
  readonly budgets?: AgentBudgets;
  readonly onLost: LostInvocationPolicy;
  readonly settle: QuiescePolicy;
  /** Milliseconds an approval request waits. Afterwards its denying decision applies. */
  readonly approvalMs: number;
  /** The agent has the tool `ask_user`. Absent if it does not. */
  readonly askUser?: AskUserSpec;
  /** Milliseconds before a paused turn without results ends. Default: 1 day. */
  readonly resultsMs?: number;
  /** Handling of a tool call whose arguments are not a JSON object. Default: `report`. */
  readonly invalidToolInput?: InvalidToolInput;
  /** Treatment of images in prompts. Default: `send` if the provider accepts images, else `reject`. */
  readonly images?: ImageHandling;
  /** Size of the model's context window in tokens. Absent if unknown. */
  readonly contextTokens?: number;
  /** Slash commands of this agent. */
  readonly commands?: readonly AgentCommand[];
  /** A turn that ends without calling this tool is prompted again, at most `maxReprompts` times. */
  readonly terminalTool?: { readonly name: string; readonly maxReprompts: number };
  /** The agent stays available between turns and announces that it is idle. Absent: it does not. */
  readonly daemon?: DaemonSpec;
  /** The agent may delegate to workers. Absent: it may not. */
  readonly workers?: WorkersSpec;
  /** Reminders which the runtime itself creates. Absent: the defaults. */
  readonly reminders?: ReminderSettings;
  /** Absent: the defaults. */
  readonly compaction?: CompactionSpec;
  /** What requests to the model leave out. Absent: nothing. */
  readonly projection?: ProjectionSpec;
}

/** Reminders which the runtime itself creates. */
export interface ReminderSettings {
  /** Announces that the conversation fills 70, 85 or 95 % of `contextTokens`. Default: true. */
  readonly tokenPressure?: boolean;
  /** Names files which changed since the agent read or wrote them. Default: true. */
  readonly changedFiles?: boolean;
  /** Repeats the reason of a denied tool call. Default: false, because the tool result has the reason. */
  readonly deniedApproval?: boolean;
}

export interface AskUserSpec {
  /** Milliseconds a question waits, and the most that a question may request. */
  readonly waitMs: number;
}

/** The limits of delegation, as part of an agent's definition. */
export interface WorkersSpec {
  /** The agents to which this agent may delegate. The first is the default. */
  readonly agents: readonly WorkerAgent[];
  /** Depth of the tree of sessions below the root session. */
  readonly maxDepth: number;
  /** Number of workers of a session which are open at the same time. */
  readonly maxOpen: number;
  /** Caps of each worker's session. Absent: a share of the session's own budgets, if it has any. */
  readonly budget?: BudgetCaps;
}

/** An agent as seen by the agent which delegates to it. */
export interface WorkerAgent {
  readonly name: string;
  /** Absent without a mutation scope. */
  readonly audit?: WorkerAudit;
}

/** The parts of the mutation record which follow from the agent of a worker. */
export interface WorkerAudit extends PolicyLists {
  readonly mutationScope: MutationScope;
}

/** The properties of a provider on which decisions depend. */
export interface ProviderSpec {
  readonly name: string;
  readonly injectionPoints: readonly string[];
  readonly effectFree: boolean;
  readonly canStop: boolean;
  /**
   * `false` if the provider's agent is stateless: every invocation then carries the history from the log. Default:
   * true.
   */
  readonly keepsHistory?: boolean;
  readonly capabilities?: ProviderCapabilities;
  /**
   * The provider discards a conversation after `idleMs` without an invocation or `lifetimeMs` after its start.
   * Milliseconds. Absent: no such limit is known.
   */
  readonly idleMs?: number;
  readonly lifetimeMs?: number;
}

/**
 * Options of a prompt which the provider can apply. A prompt with an unsupported option is refused, because the option
 * would be ignored silently.
 */
export interface ProviderCapabilities {
  /** If absent, the agent receives the instructions as text before the prompt. */
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
  /** Running the tool twice has the same effect as running it once, so recovery may run it again. */
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  /** If absent, rules treat the tool as the most dangerous kind. */
  readonly traits?: ToolTraits;
}

/**
 * Tool names, or patterns with `*`. `deny` wins over `ask`, and `ask` over `allow`; `default` applies to tools without
 * a match.
 */
export interface ApprovalRules {
  readonly deny: readonly string[];
  readonly ask: readonly string[];
  readonly allow: readonly string[];
  readonly default: "ask" | "allow" | "deny";
}

/** Limits of one turn. The turn ends as `limited` when it reaches one of them. */
export interface TurnCaps {
  /** Provider invocations. */
  readonly steps: number;
  /** Excludes the time spent waiting for people. */
  readonly seconds: number;
  readonly tokens: number | null;
  readonly toolCalls: number;
  /** Tools running at the same time. */
  readonly parallelTools: number;
}

/**
 * The reaction to a lost invocation. `ask`: request a decision from an approver. `continue`: send a visible message to
 * the same upstream session. `reseed`: start a new upstream session from the log. `resend`: repeat the invocation,
 * allowed only if it has no effects.
 */
export type LostInvocationPolicy = "ask" | "continue" | "reseed" | "resend";

/** How to bring an upstream session to rest before the next invocation, if it may still be working. */
export type QuiescePolicy = "wait" | "stop" | "reseed";

/** `report`: the model gets an error result and can call the tool again. `fail`: the turn fails. The tool never runs. */
export type InvalidToolInput = "report" | "fail";

/** `describe`: the model receives a text note in place of the image. */
export type ImageHandling = "reject" | "describe" | "send";

export type MutationScope = "read_only" | "apply_workspace";
