import type { Policy } from "../../domain/policy/policy.ts";
import { readPolicy } from "../../policy/document/read-policy.ts";
import { mergePolicies } from "../../policy/merge-policies.ts";

/** Rules of what may run. Several documents are one policy that allows only what all of them allow. */
export function definePolicy(document: unknown, ...otherDocuments: readonly unknown[]): Policy {
  return otherDocuments.reduce<Policy>(
    (policy, otherDocument) => mergePolicies(policy, readPolicy(otherDocument)),
    readPolicy(document),
  );
}
