import type { PolicyAction } from "../policy/policy-decision.ts";

/** How the rules and the session mode treat a tool before any call. */
export interface ToolRule {
  readonly name: string;
  readonly description: string;
  readonly action: PolicyAction;
  /** Whether the decision may differ with the arguments. */
  readonly dependsOnArguments: boolean;
}
