/**
 * How a tool call is decided:
 *
 * 1. Unknown tool kinds and side effects count as the most dangerous ones; an overlong command counts as unknown.
 * 2. In each layer the path checks come first: a protected, invalid, sensitive or external path is denied at once.
 * 3. Then all rules of the layer are matched. `write_path_allowlist` and `repeat_limit` can only add a restriction.
 * 4. If no rule of the layer matches, its `default` decides; a command which was not fully analyzed asks at least.
 * 5. The strictest action wins, first inside each layer, then across layers: deny, then ask, then allow.
 * 6. The first match with this action gives the reason; the highest `approvers` of the asking rules counts.
 *
 * Rules are matched in two ways, each in its safe direction. *Exact* matching (`allow` rules): every path, command and
 * URL of the call must match, character by character, and a fact which is uncertain never matches. *Conservative*
 * matching (`deny` and `ask` rules): a single matching path, command or URL is enough, in any spelling (case, Unicode
 * normalization, Windows forms), and an uncertain fact matches. A pattern which allows a call would therefore also deny
 * it.
 */
import { formatThrown } from "../domain/errors.ts";
import type { JsonObject } from "../data/json.ts";
import type { PolicyContext, PolicyDecision } from "../domain/policy/policy-decision.ts";
import { normalizeTraits } from "./facts/tool-call-facts.ts";
import { compilePolicy, type CompiledLayer } from "./compile-policy.ts";
import { collectRuleMatches, createDenial, type RuleMatch } from "./rule-matches.ts";
import type { Policy } from "../domain/policy/policy.ts";
import { findStrictest } from "./strictest-action.ts";
import { HOLE } from "./matching/wildcard.ts";

/**
 * Decides whether a tool call is allowed, requires approval, or is denied. Pure: the result depends only on the
 * parameters, so a call with edited arguments is simply evaluated again. Deny beats ask beats allow, inside a policy
 * and across merged policies.
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
    reason: first?.reason ?? "The policy has no layers",
    rule: first?.rule ?? null,
    ...(otherRules.length > 0 ? { otherRules } : {}),
    labels: [...new Set(labels)].sort(),
    context: call,
    approvers: action === "ask" ? Math.max(...deciding.map((ruleMatch) => ruleMatch.approvers)) : 0,
    ...(action === "ask" && approval !== undefined ? { approval } : {}),
  };
}

/**
 * Collects the deciding matches of each layer. A policy read from a log may have any shape; an unreadable policy denies
 * everything.
 */
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

/**
 * Bounds the time of matching. A command too long for the number of command patterns is replaced by an unknown command:
 * `deny` and `ask` rules match it, `allow` rules do not.
 */
function limitComparisons(
  call: PolicyContext,
  layers: readonly Pick<CompiledLayer, "commandPatterns">[],
): PolicyContext {
  const patterns = layers.reduce((sum, layer) => sum + layer.commandPatterns, 0);
  const words = (call.simpleCommands ?? []).flatMap((command) => command.words);
  const texts = [...words, ...(call.commandLines ?? [])];
  const length = texts.reduce((sum, text) => sum + text.length + 1, 0);
  if (length * patterns <= MAX_COMPARED_CHARACTERS) return call;
  const commandUnparsed =
    call.commandUnparsed ?? "it is too long to compare with this many command patterns";
  const simpleCommands = [{ program: null, words: [HOLE] }];
  return { ...call, commandUnparsed, simpleCommands, commandLines: [] };
}

/** Characters times patterns: a few tenths of a second in the worst case. */
export const MAX_COMPARED_CHARACTERS = 5_000_000;
