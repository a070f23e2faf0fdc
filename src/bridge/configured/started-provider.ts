import type { Provider } from "../../providers/provider.ts";
import type { Tool } from "../../tools/tool.ts";

/** A provider, and what runs for it on this machine. */
export interface StartedProvider {
  readonly provider: Provider;
  /** For its agents that have none of their own. */
  readonly tools?: readonly Tool[];
  readonly close: () => Promise<void>;
}
