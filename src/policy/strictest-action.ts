import type { PolicyAction } from "../domain/policy/policy-decision.ts";

/** The strictest of several. Of none, and of what is no action at all, it is to deny. */
export function findStrictest(actions: readonly PolicyAction[]): PolicyAction {
  if (actions.length === 0) return "deny";
  if (actions.every((action) => action === "allow")) return "allow";
  return actions.every((action) => action === "allow" || action === "ask") ? "ask" : "deny";
}
