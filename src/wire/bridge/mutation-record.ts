import type { AgentSpec, WorkerAudit } from "../../domain/agent-spec.ts";
import type { SessionLineage } from "../../domain/workers/session-lineage.ts";
import { readWorkerAudit } from "../../domain/workers/worker.ts";

export interface MutationContext {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly agent: AgentSpec | undefined;
  /** Undefined or null for a session which belongs to no worker. */
  readonly lineage?: SessionLineage | null | undefined;
}

/**
 * Encodes the mutation record of a session, identical in every message of the session. Undefined if the agent has no
 * mutation scope.
 */
export function encodeMutationRecord({
  sessionId,
  turnId,
  agent,
  lineage,
}: MutationContext): object | undefined {
  const audit = agent === undefined ? undefined : readWorkerAudit(agent);
  if (audit === undefined) return undefined;
  if (lineage !== undefined && lineage !== null)
    return encodeWorkerRecord(audit, { sessionId, ...lineage });
  return {
    session_id: sessionId,
    parent_session_id: null,
    run_id: turnId,
    worker_id: null,
    execution_kind: "session",
    ...encodeAudit(audit),
  };
}

interface WorkerPlace {
  /** The worker's session. */
  readonly sessionId: string;
  readonly parentSessionId: string;
  readonly workerId: string;
}

/** Encodes the mutation record of a worker. The run of a worker is its session, over all cycles. */
export function encodeWorkerRecord(
  audit: WorkerAudit,
  { sessionId, parentSessionId, workerId }: WorkerPlace,
): object {
  return {
    session_id: sessionId,
    parent_session_id: parentSessionId,
    run_id: sessionId,
    worker_id: workerId,
    execution_kind: "worker",
    ...encodeAudit(audit),
  };
}

/** In `write_path_allowlist`, `["**"]` allows every path and an empty list allows none. */
function encodeAudit(audit: WorkerAudit): object {
  const { mutationScope, autoApprove, autoDeny, requireApproval, writePathAllowlist } = audit;
  return {
    mutation_scope: mutationScope,
    approval_policy: {
      auto_approve: autoApprove,
      auto_deny: autoDeny,
      require_approval: requireApproval,
      write_path_allowlist: writePathAllowlist ?? ["**"],
    },
  };
}
