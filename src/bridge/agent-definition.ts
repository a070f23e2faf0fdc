import type { ApprovalLists, OnLost, Settle, TurnCaps } from "../domain/agent-event.ts";
import type { Provider } from "../providers/provider.ts";
import type { Tool } from "../tools/tool.ts";

export interface AgentDefinition {
  readonly name: string;
  readonly provider: Provider;
  readonly tools?: readonly Tool[];
  /** Which tools run without asking, after asking, or never: each by its name or a pattern. What no list names is asked about. */
  readonly approvals?: Partial<ApprovalLists>;
  readonly caps?: Partial<TurnCaps>;
  readonly onLost?: OnLost;
  /**
   * How an agent that may still be at work, after a cancel or a lost call, is brought to rest. `wait` unless said
   * otherwise: stopping ends its machine, and whatever only that machine remembers.
   */
  readonly settle?: Settle;
  /** How long an approval waits for its answer. */
  readonly approvalSeconds?: number;
  /** After this much quiet, or age, the provider has let a conversation go: it is begun anew from the log. */
  readonly upstream?: { readonly idleSeconds?: number; readonly lifetimeSeconds?: number };
  /** A turn that ends without this tool is asked again. */
  readonly terminalTool?: { readonly name: string; readonly maxReprompts?: number };
}
