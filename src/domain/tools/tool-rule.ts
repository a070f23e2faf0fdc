import type { PolicyAction } from "../policy/policy-decision.ts";

/** What the rules and the mode of a session say of a tool, before anybody has called it. */
export interface ToolRule {
  readonly name: string;
  readonly description: string;
  readonly action: PolicyAction;
  /** Whether its arguments may lead to something else. */
  readonly dependsOnArguments: boolean;
}
