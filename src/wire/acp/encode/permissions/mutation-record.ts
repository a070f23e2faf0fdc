import type { AgentSpec } from "../../../../domain/agent-spec.ts";
import { readPolicyLists } from "../../../../domain/policy/policy-lists.ts";

export interface MutationContext {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly agent: AgentSpec | undefined;
}

/**
 * Encodes the mutation record of a session, identical in every message of the session. Undefined if the agent has no
 * mutation scope.
 */
export function encodeMutationRecord({
  sessionId,
  turnId,
  agent,
}: MutationContext): object | undefined {
  if (agent?.mutationScope === undefined) return undefined;
  return {
    session_id: sessionId,
    parent_session_id: null,
    run_id: turnId,
    worker_id: null,
    execution_kind: "session",
    mutation_scope: agent.mutationScope,
    approval_policy: encodeApprovalPolicy(agent),
  };
}

/** In `write_path_allowlist`, `["**"]` allows every path and an empty list allows none. */
function encodeApprovalPolicy({ policy, approvals }: AgentSpec): object {
  if (policy === undefined) {
    const { allow, deny, ask } = approvals;
    return {
      auto_approve: allow,
      auto_deny: deny,
      require_approval: ask,
      write_path_allowlist: ANY_PATH,
    };
  }
  const { autoApprove, autoDeny, requireApproval, writePathAllowlist } = readPolicyLists(policy);
  return {
    auto_approve: autoApprove,
    auto_deny: autoDeny,
    require_approval: requireApproval,
    write_path_allowlist: writePathAllowlist ?? ANY_PATH,
  };
}

const ANY_PATH = ["**"];
