import type { ProjectionSpec } from "../../domain/transcript/projection.ts";
import type { CompactionSpec } from "../../domain/transcript/compaction.ts";
import type {
  ApprovalRules,
  ImageHandling,
  InvalidToolInput,
  MutationScope,
  LostInvocationPolicy,
  QuiescePolicy,
  ReminderSettings,
  TurnCaps,
} from "../../domain/agent-spec.ts";
import type { AgentCommand } from "../../domain/slash-commands.ts";
import type { AgentBudgets, BudgetCaps } from "../../domain/budget.ts";
import type { RuntimeToolsSetting } from "../../domain/tools/runtime-tools.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { Provider } from "../../providers/provider.ts";
import type { Tool } from "../../tools/tool.ts";

import type { McpConnection } from "../../tools/mcp/mcp-server-settings.ts";

/**
 * The definition of an agent, for `defineAgent`. Only `name` and `provider` are required:
 *
 * ```ts
 * const agent = defineAgent({
 *   name: "support",
 *   provider: localProvider({ model: modelFromName("ollama:qwen3", process.env) }),
 *   tools: [refund],
 *   approvals: { ask: ["refund"], default: "allow" },
 * });
 * ```
 */
export interface AgentDefinition {
  readonly name: string;
  readonly provider: Provider;
  readonly tools?: readonly Tool[];
  /**
   * Tools which run without approval, need an approval, or never run, by name or pattern. Default for tools in no list:
   * `ask`.
   */
  readonly approvals?: Partial<ApprovalRules>;
  /** Rules created by `definePolicy`, which replace `approvals`. */
  readonly policy?: Policy;
  /** Base of the paths in calls of app tools and MCP tools. Workspace tools have their own root. */
  readonly workspace?: WorkspaceDefinition;
  /** The extent of the tools' changes, sent to bridge hosts with permission requests and mutation records. */
  readonly mutationScope?: MutationScope;
  /** MCP servers with tools for every session. Their connections exist while a session is in use. */
  readonly mcp?: McpConnection;
  readonly caps?: Partial<TurnCaps>;
  /** Budgets which pause the turn and ask, per turn, session, principal and day. Default: none. */
  readonly budgets?: AgentBudgets;
  readonly onLost?: LostInvocationPolicy;
  /**
   * How to quiesce the upstream session after a cancelled or lost invocation. Default: `wait`, because `stop` ends the
   * agent's machine and loses all state of the machine.
   */
  readonly settle?: QuiescePolicy;
  /** Seconds until an approval expires. Default: 1 hour. */
  readonly approvalSeconds?: number;
  /**
   * Gives the agent the tool `ask_user` for questions to a person. `waitSeconds`: seconds until a question expires.
   * Default: 1 day.
   */
  readonly askUser?: boolean | { readonly waitSeconds?: number };
  /**
   * Gives the agent tools of the runtime, such as `emit_handoff`: `true` for all, or a list of names. They change
   * nothing outside of the session, so `approvals` allows them unless a list names them. Default: none.
   */
  readonly runtimeTools?: RuntimeToolsSetting;
  /** Seconds for which a turn waits for results of client-run tool calls. Default: 1 day. */
  readonly resultsSeconds?: number;
  /** Reaction to a tool call with arguments other than a JSON object. Default: `report`. */
  readonly invalidToolInput?: InvalidToolInput;
  /**
   * Handling of images in prompts: `reject`, `describe` (sent as text) or `send`. Default: `send` if the provider
   * accepts images, otherwise `reject`.
   */
  readonly images?: ImageHandling;
  /**
   * Idle time and lifetime after which the provider drops an upstream session. The session is then reseeded from the
   * log.
   */
  readonly upstream?: { readonly idleSeconds?: number; readonly lifetimeSeconds?: number };
  /** Size of the model's context in tokens. Editors use this number to show how full the context is. */
  readonly contextTokens?: number;
  /** Slash commands by name, such as `review` for `/review`. */
  readonly commands?: { readonly [name: string]: Omit<AgentCommand, "name"> };
  /**
   * A tool which must be called before a turn may end. Without the call the agent is prompted again, `maxReprompts`
   * times (default: 2).
   */
  readonly terminalTool?: { readonly name: string; readonly maxReprompts?: number };
  /**
   * Keeps the agent available between turns: bridge hosts are notified while the agent is idle, and can resume the
   * agent. `true`: with the default settings.
   */
  readonly daemon?: boolean | DaemonDefinition;
  /** Lets the agent delegate to workers, which are sessions of their own. Default: the agent has no workers. */
  readonly workers?: boolean | WorkersDefinition;
  /** Reminders which the runtime itself creates. */
  readonly reminders?: ReminderSettings;
  /** When and how the older part of a conversation is replaced. Absent: the defaults. */
  readonly compaction?: CompactionSpec;
  /** What requests to the model leave out: failed tool calls, old tool output, secrets. Absent: nothing. */
  readonly projection?: ProjectionSpec;
}

export interface WorkersDefinition {
  /** Names of the agents to which the agent may delegate. The first is the default. Default: the agent itself. */
  readonly agents?: readonly string[];
  /** Depth of the tree of sessions below the first. Default: 3. */
  readonly maxDepth?: number;
  /** Number of workers of one session which may be open at the same time. Default: 8. */
  readonly maxOpen?: number;
  /** Caps of each worker. Default: a share of the session's own budgets, if it has any. */
  readonly budget?: BudgetCaps;
}

/** The workspace of an agent's sessions. */
export interface WorkspaceDefinition {
  /** The folder of sessions which name no folder. */
  readonly root: string;
  /** True: all sessions work in `root`, even if they name a subfolder; other folders are refused. Default: false. */
  readonly isFixed?: boolean;
  /** Protected paths: no tool may touch these folders and files. */
  readonly protectedFolders?: readonly string[];
}

export interface DaemonDefinition {
  /** Seconds after which an idle daemon starts a turn by itself. Default: only activity wakes the daemon. */
  readonly wakeSeconds?: number;
  /** Number of idle waits without activity after which the daemon stops. Default: the daemon never stops. */
  readonly watchdogAttempts?: number;
}
