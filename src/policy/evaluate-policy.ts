import { formatThrown } from "../domain/errors.ts";
import type { JsonObject } from "../data/json.ts";
import type { PolicyContext, PolicyDecision } from "../domain/policy/policy-decision.ts";
import { normalizeTraits } from "./facts/tool-call-facts.ts";
import { limitComparisons } from "./limit-comparisons.ts";
import { compilePolicy } from "./compile-policy.ts";
import { collectRuleMatches, createDenial, type RuleMatch } from "./rule-matches.ts";
import type { Policy } from "../domain/policy/policy.ts";
import { findStrictest } from "./strictest-action.ts";

/**
 * What is to become of a call. It depends on what it is given and on nothing else, so a call whose arguments were
 * rewritten is judged again like any other. Denying beats asking beats allowing, in a policy and between merged ones.
 */
export function evaluatePolicy(
  policy: Policy,
  context: PolicyContext,
  input: JsonObject,
): PolicyDecision {
  const normalizedContext = { ...context, ...normalizeTraits(context.kind, context.sideEffect) };
  const { call, ruleMatches } = collectLayerMatches(policy, normalizedContext, input);
  const action = findStrictest(ruleMatches.map((ruleMatch) => ruleMatch.action));
  const deciding = ruleMatches.filter((ruleMatch) => ruleMatch.action === action);
  const [first] = deciding;
  const labels = deciding.flatMap((ruleMatch) => ruleMatch.labels);
  if (action === "ask") labels.push("approval_required");
  if (call.commandUnparsed !== undefined) labels.push("command_unparsed");
  const otherRules = action === "ask" ? deciding.slice(1).map((ruleMatch) => ruleMatch.rule) : [];
  const approval = deciding.find((ruleMatch) => ruleMatch.approval !== undefined)?.approval;
  return {
    action,
    reason: first?.reason ?? "The policy says nothing at all",
    rule: first?.rule ?? null,
    ...(otherRules.length > 0 ? { otherRules } : {}),
    labels: [...new Set(labels)].sort(),
    context: call,
    approvers: action === "ask" ? Math.max(...deciding.map((ruleMatch) => ruleMatch.approvers)) : 0,
    ...(action === "ask" && approval !== undefined ? { approval } : {}),
  };
}

/** For each layer what decides there. A policy out of a log may be anything; one that cannot be read allows nothing. */
function collectLayerMatches(
  policy: Policy,
  context: PolicyContext,
  input: JsonObject,
): LayerMatches {
  try {
    const layers = compilePolicy(policy);
    const call = limitComparisons(context, layers);
    const ruleMatches = layers.flatMap((layer, at) => {
      const ruleMatches = collectRuleMatches(layer, call, input);
      const action = findStrictest(ruleMatches.map((ruleMatch) => ruleMatch.action));
      return ruleMatches
        .filter((ruleMatch) => ruleMatch.action === action)
        .map((ruleMatch) => (layers.length > 1 ? addLayer(ruleMatch, at) : ruleMatch));
    });
    return { call, ruleMatches };
  } catch (error) {
    const ruleMatch = createDenial("policy", `The policy cannot be read: ${formatThrown(error)}`);
    return { call: context, ruleMatches: [ruleMatch] };
  }
}

interface LayerMatches {
  readonly call: PolicyContext;
  readonly ruleMatches: readonly RuleMatch[];
}

function addLayer(ruleMatch: RuleMatch, layer: number): RuleMatch {
  return ruleMatch.rule === null ? ruleMatch : { ...ruleMatch, rule: { ...ruleMatch.rule, layer } };
}
