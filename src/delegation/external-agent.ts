import type { JsonObject, JsonValue } from "../data/json.ts";

/**
 * The values of the contract `harn.external_agent.v1`. The names of fields are those of the contract,
 * because hosts and peers receive the values unchanged.
 */
export const HANDOFF_SCHEMA = "harn.external_agent.handoff.v1";

/** Caps of a delegation, with at least a positive cap. */
export interface ExternalBudget {
  readonly max_usd?: number;
  readonly max_tokens?: number;
  readonly max_seconds?: number;
  readonly max_tool_calls?: number;
}

/** Used by the peer, as the peer reports it. An absent amount was not reported. */
export interface BudgetUsed {
  readonly usd?: number;
  readonly tokens?: number;
  readonly seconds?: number;
  readonly tool_calls?: number;
}

/** The capabilities of a peer, as proven by its agent card. */
export interface ExternalCapability {
  readonly preDispatchCheckpoint: boolean;
  readonly budgetCap: boolean;
  readonly idempotency: boolean;
  readonly reviewableHandoff: boolean;
  readonly dispatch: boolean;
}

/** The plan of a peer, before any paid work. */
export interface Checkpoint {
  readonly checkpoint_id: string;
  readonly plan: JsonValue;
  readonly expected_scope: JsonValue;
  readonly evidence_refs: readonly JsonValue[];
  readonly metadata: JsonObject;
  /** True for a plan of the caller, because the peer cannot plan. */
  readonly is_local: boolean;
  /** Digest of the plan and of the request. An approval names this digest. */
  readonly plan_hash: string;
}

/** The task of a delegation. A repeated key with the same request is the same delegation. */
export interface DelegationRequest {
  /** The URL of the peer. */
  readonly target: string;
  readonly task: string;
  readonly budget: ExternalBudget;
  readonly idempotency_key: string;
  readonly expected_scope: JsonValue;
  readonly context: JsonObject;
  readonly metadata: JsonObject;
}

/** The decision of a person about a checkpoint. */
export interface CheckpointApproval {
  readonly approved: boolean;
  /** The checkpoint and the plan as shown to the person. */
  readonly checkpoint_id?: string;
  readonly plan_hash?: string;
  /** Permits a peer without checkpoints, with a plan written by the caller. */
  readonly allow_local_fallback?: boolean;
  readonly local_plan?: JsonValue;
}

export type DelegationStatus =
  | "checkpoint_required"
  | "refused"
  | "completed"
  | "budget_exceeded"
  /** The peer did not report its use, so the caps cannot be checked. */
  | "budget_unreported"
  | "replayed";

/** A result for review. Never a plain success: a person or a program reads the status and the handoff first. */
export interface HandoffEnvelope {
  readonly schema: typeof HANDOFF_SCHEMA;
  readonly status: DelegationStatus;
  readonly target: string;
  readonly task: string;
  readonly idempotency_key: string;
  readonly checkpoint: Checkpoint | null;
  readonly budget: { readonly caps: ExternalBudget; readonly used: BudgetUsed | null };
  readonly handoff: JsonValue;
  readonly artifacts: readonly HandoffArtifact[];
  readonly receipts: readonly JsonValue[];
  /** Why the delegation was refused, or which caps were exceeded. Null otherwise. */
  readonly reason: string | null;
  /** The status of the repeated delegation. Null unless the status is `replayed`. */
  readonly replay_of: DelegationStatus | null;
}

export interface HandoffArtifact {
  readonly kind: "handoff" | "diff" | "artifact";
  readonly title: string;
  readonly content: JsonValue;
}
