import type { JsonValue } from "../data/json.ts";
import {
  HANDOFF_SCHEMA,
  type BudgetUsed,
  type Checkpoint,
  type DelegationRequest,
  type DelegationStatus,
  type ExternalBudget,
  type HandoffArtifact,
  type HandoffEnvelope,
} from "./external-agent.ts";
import type { DispatchReply } from "./read-reply.ts";

/** An envelope without a result of the peer. */
export function createEnvelope(
  request: DelegationRequest,
  status: DelegationStatus,
  details: Partial<HandoffEnvelope> = {},
): HandoffEnvelope {
  const { target, task, idempotency_key, budget } = request;
  return {
    schema: HANDOFF_SCHEMA,
    status,
    target,
    task,
    idempotency_key,
    checkpoint: null,
    budget: { caps: budget, used: null },
    handoff: null,
    artifacts: [],
    receipts: [],
    reason: null,
    replay_of: null,
    ...details,
  };
}

/** Normalizes the result of a dispatch. More than a cap, or an unreported amount, is never a clean completion. */
export function createResultEnvelope(
  request: DelegationRequest,
  checkpoint: Checkpoint,
  reply: DispatchReply,
): HandoffEnvelope {
  const { handoff, receipts, used } = reply;
  const exceeded = listExceededCaps(request.budget, used ?? {});
  const missing = listUnreportedCaps(request.budget, used ?? {});
  const isExceeded = exceeded.length > 0 || reply.isOverBudget;
  const status = isExceeded
    ? "budget_exceeded"
    : missing.length > 0
      ? "budget_unreported"
      : "completed";
  const reasons = {
    budget_exceeded:
      exceeded.length > 0 ? `above ${exceeded.join(", ")}` : "the peer ran out of its budget",
    budget_unreported: `the peer did not report the use of ${missing.join(", ")}`,
    completed: null,
  };
  return createEnvelope(request, status, {
    checkpoint,
    budget: { caps: request.budget, used },
    handoff,
    artifacts: listArtifacts(reply),
    receipts,
    reason: reasons[status],
  });
}

function listArtifacts({ handoff, diff, artifacts }: DispatchReply): readonly HandoffArtifact[] {
  const others = artifacts.map((content: JsonValue): HandoffArtifact => ({
    kind: "artifact",
    title: "Artifact",
    content,
  }));
  return [
    { kind: "handoff", title: "Handoff", content: handoff },
    ...(diff === null ? [] : [{ kind: "diff", title: "Diff", content: diff } as const]),
    ...others,
  ];
}

const CAP_AMOUNTS = [
  ["max_usd", "usd"],
  ["max_tokens", "tokens"],
  ["max_seconds", "seconds"],
  ["max_tool_calls", "tool_calls"],
] as const;

function listExceededCaps(caps: ExternalBudget, used: BudgetUsed): readonly string[] {
  return CAP_AMOUNTS.flatMap(([cap, amount]) =>
    (used[amount] ?? 0) > (caps[cap] ?? Infinity) ? [cap] : [],
  );
}

/** Names the caps which cannot be checked, because the peer did not report the amount. */
function listUnreportedCaps(caps: ExternalBudget, used: BudgetUsed): readonly string[] {
  return CAP_AMOUNTS.flatMap(([cap, amount]) =>
    caps[cap] !== undefined && used[amount] === undefined ? [cap] : [],
  );
}
