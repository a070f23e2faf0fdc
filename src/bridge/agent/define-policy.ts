import type { Policy } from "../../domain/policy/policy.ts";
import { readPolicy } from "../../policy/document/read-policy.ts";
import { mergePolicies } from "../../policy/merge-policies.ts";

/**
 * Parses a policy: the rules for tool calls. Several documents merge into a policy under which a tool call is allowed
 * only if all documents allow it.
 */
export function definePolicy(document: unknown, ...otherDocuments: readonly unknown[]): Policy {
  return otherDocuments.reduce<Policy>(
    (policy, otherDocument) => mergePolicies(policy, readPolicy(otherDocument)),
    readPolicy(document),
  );
}
