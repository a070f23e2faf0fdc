import type { ToolCallCheck } from "./matching/tool-call-check.ts";
import { createExactMatcher } from "./matching/exact-matcher.ts";
import { compileSensitivePaths, type SensitivePaths } from "./path-check.ts";
import { parsePathPattern, type PathPattern } from "./matching/path-pattern.ts";
import type { Policy, PolicyLayer, Rule } from "../domain/policy/policy.ts";
import { createConservativeMatcher } from "./matching/conservative-matcher.ts";

export interface CompiledLayer {
  readonly layer: PolicyLayer;
  readonly rules: readonly CompiledRule[];
  readonly sensitive: SensitivePaths;
  readonly writePathAllowlist: readonly PathPattern[] | null;
  /** Number of patterns a command is compared with. */
  readonly commandPatterns: number;
}

export interface CompiledRule {
  readonly rule: Rule;
  readonly matches: ToolCallCheck;
}

/** Compiles a policy on first use and caches the result for the lifetime of the policy object. */
export function compilePolicy(policy: Policy): readonly CompiledLayer[] {
  const cached = COMPILED_POLICIES.get(policy);
  if (cached !== undefined) return cached;
  const layers = policy.layers.map(compileLayer);
  COMPILED_POLICIES.set(policy, layers);
  return layers;
}

const COMPILED_POLICIES = new WeakMap<Policy, readonly CompiledLayer[]>();

function compileLayer(layer: PolicyLayer): CompiledLayer {
  return {
    layer,
    rules: layer.rules.map((rule) => ({
      rule,
      matches:
        rule.action === "allow"
          ? createExactMatcher(rule.match)
          : createConservativeMatcher(rule.match),
    })),
    sensitive: compileSensitivePaths(layer),
    writePathAllowlist: layer.writePathAllowlist?.map(parsePathPattern) ?? null,
    commandPatterns: layer.rules
      .map(
        ({ match: { command = [], commandIdentity = [] } }) =>
          command.length + commandIdentity.length,
      )
      .reduce((sum, count) => sum + count, 0),
  };
}
