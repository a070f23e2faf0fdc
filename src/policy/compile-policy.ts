import type { CallCheck } from "./call-check.ts";
import { exactMatcher } from "./exact-matcher.ts";
import { sensitivePaths, type SensitivePaths } from "./guards.ts";
import { parsePathPattern, type PathPattern } from "./path-pattern.ts";
import type { Policy, PolicyLayer, Rule } from "../domain/policy.ts";
import { wideMatcher } from "./wide-matcher.ts";

export interface CompiledLayer {
  readonly layer: PolicyLayer;
  readonly rules: readonly CompiledRule[];
  readonly sensitive: SensitivePaths;
  readonly writePathAllowlist: readonly PathPattern[] | null;
  /** How many patterns a command is compared with. */
  readonly commandPatterns: number;
}

export interface CompiledRule {
  readonly rule: Rule;
  readonly speaksOf: CallCheck;
}

/** Made at the first call that a policy judges, and kept as long as the policy is. */
export function compilePolicy(policy: Policy): readonly CompiledLayer[] {
  const known = compiled.get(policy);
  if (known !== undefined) return known;
  const layers = policy.layers.map(compileLayer);
  compiled.set(policy, layers);
  return layers;
}

const compiled = new WeakMap<Policy, readonly CompiledLayer[]>();

function compileLayer(layer: PolicyLayer): CompiledLayer {
  return {
    layer,
    rules: layer.rules.map((rule) => ({
      rule,
      speaksOf: rule.action === "allow" ? exactMatcher(rule.match) : wideMatcher(rule.match),
    })),
    sensitive: sensitivePaths(layer),
    writePathAllowlist: layer.writePathAllowlist?.map(parsePathPattern) ?? null,
    commandPatterns: layer.rules
      .map(
        ({ match: { command = [], commandIdentity = [] } }) =>
          command.length + commandIdentity.length,
      )
      .reduce((sum, count) => sum + count, 0),
  };
}
