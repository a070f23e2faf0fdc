import type { PolicyAction } from "../domain/policy/policy-decision.ts";

/** Returns the strictest action. An empty list or an unknown action counts as `deny`. */
export function findStrictest(actions: readonly PolicyAction[]): PolicyAction {
  if (actions.length === 0) return "deny";
  if (actions.every((action) => action === "allow")) return "allow";
  return actions.every((action) => action === "allow" || action === "ask") ? "ask" : "deny";
}
