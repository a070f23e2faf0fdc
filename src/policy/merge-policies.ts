import { SpanlineError } from "../domain/errors.ts";
import { MAX_COUNTS } from "./document/policy-limits.ts";
import type { Policy, PolicyLayer } from "../domain/policy/policy.ts";

/**
 * A policy that allows what both allow. Their layers stay apart, and a call has to pass each: so what one denies or asks
 * about stands, every path that is written has to be on both lists, the lower limit holds, and two lists that have nothing
 * in common allow nothing.
 */
export function mergePolicies(outer: Policy, inner: Policy): Policy {
  const layers = new Map<string, PolicyLayer>();
  for (const layer of [...outer.layers, ...inner.layers]) {
    // Workers of workers are given the same policy again and again.
    const text = JSON.stringify(layer);
    if (!layers.has(text)) layers.set(text, layer);
  }
  if (layers.size <= MAX_COUNTS.layers) return { layers: [...layers.values()] };
  const message = `More than ${MAX_COUNTS.layers} policies were merged; write them as one`;
  throw new SpanlineError("invalid_option", message, { details: { path: "policy" } });
}
