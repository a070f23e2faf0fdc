import type {
  ApprovalRules,
  ImageHandling,
  InvalidToolInput,
  MutationScope,
  LostInvocationPolicy,
  QuiescePolicy,
  TurnCaps,
} from "../../domain/agent-spec.ts";
import type { AgentCommand } from "../../domain/agent-command.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import type { Provider } from "../../providers/provider.ts";
import type { Tool } from "../../tools/tool.ts";

import type { McpConnection } from "../../tools/mcp/mcp-server-settings.ts";

export interface AgentDefinition {
  readonly name: string;
  readonly provider: Provider;
  readonly tools?: readonly Tool[];
  /** Which tools run without asking, after asking, or never: each by its name or a pattern. What no list names is asked about. */
  readonly approvals?: Partial<ApprovalRules>;
  /** Rules of what may run, as `definePolicy` made them. Where there are some, they decide instead of `approvals`. */
  readonly policy?: Policy;
  /** Where the paths begin that tools of the app or of MCP servers are called with; those of a workspace know. */
  readonly workspace?: WorkspaceDefinition;
  /** What the tools may change, for whoever keeps books. */
  readonly mutationScope?: MutationScope;
  /** MCP servers whose tools every session has, connected to while it is used. */
  readonly mcp?: McpConnection;
  readonly caps?: Partial<TurnCaps>;
  readonly onLost?: LostInvocationPolicy;
  /**
   * How an agent that may still be at work, after a cancel or a lost call, is brought to rest. `wait` unless said
   * otherwise: stopping ends its machine, and whatever only that machine remembers.
   */
  readonly settle?: QuiescePolicy;
  /** How long an approval waits for its answer. */
  readonly approvalSeconds?: number;
  /** How long a turn waits for the results of tools that whoever prompts has; a day unless said. */
  readonly resultsSeconds?: number;
  /** What follows a tool call whose arguments are not a JSON object. Default: `report`. */
  readonly invalidToolInput?: InvalidToolInput;
  /**
   * What becomes of pictures in prompts: refused, told of in words, or shown to the model. Unless said they are shown where
   * the provider takes them, and else refused.
   */
  readonly images?: ImageHandling;
  /** After this much quiet, or age, the provider has let a conversation go: it is begun anew from the log. */
  readonly upstream?: { readonly idleSeconds?: number; readonly lifetimeSeconds?: number };
  /** How many tokens the model's context holds: with it, editors show how full that is. */
  readonly contextTokens?: number;
  /** What people can have said to it by a word, such as `/review`: each under its name. */
  readonly commands?: { readonly [name: string]: Omit<AgentCommand, "name"> };
  /** A turn that ends without this tool is asked again. */
  readonly terminalTool?: { readonly name: string; readonly maxReprompts?: number };
}

/** Where sessions of an agent work. */
export interface WorkspaceDefinition {
  /** For sessions that named no folder themselves. */
  readonly root: string;
  /** Sessions work there, whatever folder in it they named; one that named another is refused. */
  readonly isFixed?: boolean;
  /** Folders and files that no tool may touch. */
  readonly protectedFolders?: readonly string[];
}
