import { thrownMessage } from "../domain/errors.ts";
import type { JsonObject } from "../domain/json.ts";
import type { PolicyContext, PolicyDecision } from "../domain/policy-decision.ts";
import { knownTraits } from "./call-facts.ts";
import { comparableCall } from "./comparable-call.ts";
import { compilePolicy } from "./compile-policy.ts";
import { findingsOf, refused, type Finding } from "./findings.ts";
import type { Policy } from "../domain/policy.ts";
import { strongest } from "./strictness.ts";

/**
 * What is to become of a call. It depends on what it is given and on nothing else, so a call whose arguments were
 * rewritten is judged again like any other. Denying beats asking beats allowing, in a policy and between merged ones.
 */
export function judge(policy: Policy, context: PolicyContext, input: JsonObject): PolicyDecision {
  const known = { ...context, ...knownTraits(context.kind, context.sideEffect) };
  const { call, findings } = findingsOfLayers(policy, known, input);
  const action = strongest(findings.map((finding) => finding.action));
  const deciding = findings.filter((finding) => finding.action === action);
  const [first] = deciding;
  const labels = deciding.flatMap((finding) => finding.labels);
  if (action === "ask") labels.push("approval_required");
  if (call.commandUnparsed !== undefined) labels.push("command_unparsed");
  const others = action === "ask" ? deciding.slice(1).map((finding) => finding.rule) : [];
  const approval = deciding.find((finding) => finding.approval !== undefined)?.approval;
  return {
    action,
    reason: first?.reason ?? "The policy says nothing at all",
    rule: first?.rule ?? null,
    ...(others.length > 0 ? { others } : {}),
    labels: [...new Set(labels)].sort(),
    context: call,
    approvers: action === "ask" ? Math.max(...deciding.map((finding) => finding.approvers)) : 0,
    ...(action === "ask" && approval !== undefined ? { approval } : {}),
  };
}

/** For each layer what decides there. A policy out of a log may be anything; one that cannot be read allows nothing. */
function findingsOfLayers(policy: Policy, known: PolicyContext, input: JsonObject): Judged {
  try {
    const layers = compilePolicy(policy);
    const call = comparableCall(known, layers);
    const findings = layers.flatMap((layer, at) => {
      const findings = findingsOf(layer, call, input);
      const action = strongest(findings.map((finding) => finding.action));
      return findings
        .filter((finding) => finding.action === action)
        .map((finding) => (layers.length > 1 ? ofLayer(finding, at) : finding));
    });
    return { call, findings };
  } catch (error) {
    const finding = refused("policy", `The policy cannot be read: ${thrownMessage(error)}`);
    return { call: known, findings: [finding] };
  }
}

interface Judged {
  readonly call: PolicyContext;
  readonly findings: readonly Finding[];
}

function ofLayer(finding: Finding, layer: number): Finding {
  return finding.rule === null ? finding : { ...finding, rule: { ...finding.rule, layer } };
}
