import type { Provider } from "../providers/provider.ts";
import type { Tool } from "../tools/tool.ts";
import type { BoundAgent } from "./input.ts";

/** An agent that can be run: what decisions know of it, and what they cannot hold. */
export interface Agent extends BoundAgent {
  readonly provider: Provider;
  readonly tools: ReadonlyMap<string, Tool>;
}
