import { SpanlineError } from "../domain/errors.ts";
import { MAX_COUNTS } from "./document/policy-limits.ts";
import type { Policy, PolicyLayer } from "../domain/policy/policy.ts";

/**
 * Returns a policy which allows only calls allowed by both. The layers are kept separate, and a call must pass each
 * layer: denials and approvals of either policy remain, a written path must be on both allowlists, the lower repeat
 * limit applies, and two allowlists without a common path allow no write.
 */
export function mergePolicies(outer: Policy, inner: Policy): Policy {
  const layers = new Map<string, PolicyLayer>();
  for (const layer of [...outer.layers, ...inner.layers]) {
    // Nested workers inherit the same policy repeatedly, so equal layers are merged.
    const text = JSON.stringify(layer);
    if (!layers.has(text)) layers.set(text, layer);
  }
  if (layers.size <= MAX_COUNTS.layers) return { layers: [...layers.values()] };
  const message = `More than ${MAX_COUNTS.layers} policies were merged. Fix: write them as one policy`;
  throw new SpanlineError("invalid_option", message, { details: { path: "policy" } });
}
