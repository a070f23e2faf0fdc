import type { Policy } from "../domain/policy.ts";
import { readPolicy } from "../policy/document/read-policy.ts";
import { mergePolicies } from "../policy/merge-policies.ts";

/** Rules of what may run. Several documents are one policy that allows only what all of them allow. */
export function definePolicy(document: unknown, ...others: readonly unknown[]): Policy {
  return others.reduce<Policy>(
    (policy, other) => mergePolicies(policy, readPolicy(other)),
    readPolicy(document),
  );
}
