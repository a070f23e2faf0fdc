import type { JsonValue } from "../data/json.ts";
import { digestValue } from "../platform/digest.ts";
import {
  DISPATCH_METHOD,
  EXTERNAL_AGENT_SCHEMA,
  PLAN_METHOD,
} from "../wire/bridge/external-agent-contract.ts";
import { checkRequest } from "./check-request.ts";
import { DelegationError } from "./delegation-error.ts";
import {
  loadState,
  saveState,
  type DelegationRecords,
  type LoadedState,
} from "./delegation-record.ts";
import type {
  Checkpoint,
  CheckpointApproval,
  DelegationRequest,
  ExternalCapability,
  HandoffEnvelope,
} from "./external-agent.ts";
import { createEnvelope, createResultEnvelope } from "./handoff-envelope.ts";
import { listMissingCapabilities, readCapability } from "./read-capability.ts";
import { readCheckpoint, readDispatchReply } from "./read-reply.ts";

/** The connection to a peer. */
export interface Peer {
  /** Reads the agent card. Rejects with a `DelegationError`. */
  readCard(signal: AbortSignal): Promise<JsonValue>;
  /** Sends an extension method to the JSON-RPC interface of the card. */
  request(method: string, params: object, signal: AbortSignal): Promise<JsonValue>;
}

export interface DelegationContext {
  readonly records: DelegationRecords;
  /** On whose behalf the work is paid. Keys of different principals are independent. */
  readonly principal: string;
  readonly now: () => number;
  readonly connect: (target: string) => Peer;
  readonly signal: AbortSignal;
}

/** How long a dispatch may take before another process repeats it, with the same key. */
const DISPATCH_MS = 3_600_000;

/**
 * Delegates a task to an external agent, in a fixed order: validate the request, prove the
 * capabilities of the peer, obtain a plan, wait for its approval, dispatch once, and return a result for review.
 */
export async function delegateToExternalAgent(
  request: DelegationRequest,
  approval: CheckpointApproval,
  context: DelegationContext,
): Promise<HandoffEnvelope> {
  checkRequest(request);
  const { records, principal } = context;
  const loaded = await loadState(records, principal, request);
  const { envelope } = loaded.state;
  if (envelope !== null) return { ...envelope, status: "replayed", replay_of: envelope.status };
  const peer = context.connect(request.target);
  const capability = readCapability(await peer.readCard(context.signal));
  const missing =
    capability === undefined ? [EXTERNAL_AGENT_SCHEMA] : listMissingCapabilities(capability);
  if (capability === undefined || missing.length > 0)
    return createEnvelope(request, "refused", {
      reason: `The agent card does not prove ${missing.join(", ")}`,
    });
  const planned = await obtainCheckpoint(request, approval, { context, peer, capability, loaded });
  if (planned === undefined)
    return createEnvelope(request, "refused", {
      reason:
        "The peer cannot plan before paid work. Fix: set allow_local_fallback with a local plan",
    });
  const { checkpoint } = planned.state;
  if (checkpoint === null) throw new Error("A planned delegation has no checkpoint");
  if (!approval.approved) return createEnvelope(request, "checkpoint_required", { checkpoint });
  if (!isApprovedPlan(checkpoint, approval))
    return createEnvelope(request, "refused", {
      checkpoint,
      reason:
        "The approval is for another plan. Fix: approve the checkpoint_id and the plan_hash of this checkpoint",
    });
  return dispatch(request, checkpoint, { context, peer, loaded: planned });
}

/** An approval is valid for the shown plan only. */
function isApprovedPlan(checkpoint: Checkpoint, approval: CheckpointApproval): boolean {
  return (
    approval.checkpoint_id === checkpoint.checkpoint_id &&
    approval.plan_hash === checkpoint.plan_hash
  );
}

interface PlanContext {
  readonly context: DelegationContext;
  readonly peer: Peer;
  readonly capability: ExternalCapability;
  readonly loaded: LoadedState;
}

/** Obtains the plan once: the approved call uses the shown plan. Undefined if no plan can be had. */
async function obtainCheckpoint(
  request: DelegationRequest,
  approval: CheckpointApproval,
  { context, peer, capability, loaded }: PlanContext,
): Promise<LoadedState | undefined> {
  if (loaded.state.checkpoint !== null) return loaded;
  const drafted = capability.preDispatchCheckpoint
    ? {
        ...readCheckpoint(await peer.request(PLAN_METHOD, encodeRequest(request), context.signal)),
        is_local: false,
      }
    : createLocalCheckpoint(request, approval);
  if (drafted === undefined) return undefined;
  const checkpoint = { ...drafted, plan_hash: hashPlan(request, drafted) };
  const { principal } = context;
  const state = { ...loaded.state, checkpoint };
  return saveState(
    context.records,
    request,
    { ...loaded, state },
    { principal, now: context.now() },
  );
}

type DraftedCheckpoint = Omit<Checkpoint, "plan_hash">;

function createLocalCheckpoint(
  request: DelegationRequest,
  { allow_local_fallback: isAllowed, local_plan: plan }: CheckpointApproval,
): DraftedCheckpoint | undefined {
  if (isAllowed !== true || plan === undefined || plan === null || plan === "") return undefined;
  return {
    checkpoint_id: `local_${digestValue([request.idempotency_key, plan]).slice(-26)}`,
    plan,
    expected_scope: request.expected_scope,
    evidence_refs: [],
    metadata: {},
    is_local: true,
  };
}

function hashPlan(request: DelegationRequest, drafted: DraftedCheckpoint): string {
  return digestValue({ request: { ...request }, checkpoint: { ...drafted } });
}

interface DispatchContext {
  readonly context: DelegationContext;
  readonly peer: Peer;
  readonly loaded: LoadedState;
}

/**
 * Sends the approved task. The record is written before the request, so only the first of two concurrent calls sends. After a
 * crash the request is sent again with the same key, which the peer has promised to run once.
 */
async function dispatch(
  request: DelegationRequest,
  checkpoint: Checkpoint,
  { context, peer, loaded }: DispatchContext,
): Promise<HandoffEnvelope> {
  const { records, principal } = context;
  const { dispatchUntil } = loaded.state;
  if (dispatchUntil !== null && context.now() < dispatchUntil)
    throw new DelegationError(
      "conflict",
      "The delegation is being dispatched. Fix: call again later",
    );
  const save = (last: LoadedState, change: Partial<LoadedState["state"]>): Promise<LoadedState> =>
    saveState(
      records,
      request,
      { ...last, state: { ...last.state, ...change } },
      { principal, now: context.now() },
    );
  const reserved = await save(loaded, { dispatchUntil: context.now() + DISPATCH_MS });
  try {
    const params = { ...encodeRequest(request), checkpoint: encodeCheckpoint(checkpoint) };
    const reply = readDispatchReply(await peer.request(DISPATCH_METHOD, params, context.signal));
    const envelope = createResultEnvelope(request, checkpoint, reply);
    await save(reserved, { envelope, dispatchUntil: null });
    return envelope;
  } catch (error) {
    // The peer may have run the task. Another call asks for the result with the same key.
    await save(reserved, { dispatchUntil: null }).catch(() => undefined);
    throw error;
  }
}

function encodeRequest({
  task,
  budget,
  idempotency_key,
  expected_scope,
  context,
  metadata,
}: DelegationRequest) {
  return { task, budget, idempotency_key, expected_scope, context, metadata };
}

function encodeCheckpoint({
  checkpoint_id,
  plan,
  expected_scope,
  metadata,
  plan_hash,
}: Checkpoint): object {
  return { checkpoint_id, plan, expected_scope, metadata, plan_hash, approved: true };
}
