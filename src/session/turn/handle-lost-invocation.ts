import type { InvocationPurpose } from "../../domain/events/turn-events.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import { requestApproval } from "../approvals/approval-requests.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { finishTurn } from "./finish-turn.ts";
import { openNewUpstream } from "./resolve-upstream.ts";
import { restateLostInput } from "./recovery-messages.ts";
import type { Invocation, CurrentTurn } from "./turn-state.ts";

export interface InvocationRequest {
  readonly purpose: InvocationPurpose;
  /** The lost invocation to repeat, in the same upstream session. */
  readonly retryOf?: Invocation;
}

/**
 * Applies the agent's policy, or the approver's decision, to a lost invocation. The same input is repeated in the same
 * upstream session only with the policy `resend`, and only for a provider without effects.
 */
export function handleLostInvocation(
  decision: Decision,
  current: CurrentTurn,
  startInvocation: (request: InvocationRequest) => void,
): void {
  const { stage } = current;
  if (stage.type !== "invocation-lost") return;
  const { invocation, failure } = stage;
  // An open approval request takes precedence, even if the agent's policy has changed since.
  const approvalDecision =
    stage.decision ?? (stage.approvalId === undefined ? resolveLossPolicy(decision) : "ask");
  switch (approvalDecision) {
    case "continue":
      if (current.unsentTexts.length === 0) restateLostInput(decision, invocation.outgoing);
      return startInvocation({ purpose: "recovery" });
    case "reseed":
      if (decision.state.turn.upstream?.upstreamId === invocation.upstreamId)
        openNewUpstream(decision, true);
      return startInvocation({ purpose: invocation.purpose });
    case "run-again":
      return startInvocation({ purpose: invocation.purpose, retryOf: invocation });
    case "stop": {
      const message = "The connection to the agent was lost, and no decision to continue was made";
      const lost = failure ?? { code: "connection_lost", message, details: {} };
      return finishTurn(decision, current, { outcome: "failed", reason: null, failure: lost });
    }
    case "ask":
      if (stage.approvalId === undefined) requestLossDecision(decision, invocation.invocationId);
      return;
    default:
      return finishTurn(decision, current, {
        outcome: "failed",
        reason: `unexpected ${approvalDecision}`,
      });
  }
}

function resolveLossPolicy(decision: Decision): ApprovalDecision | "ask" {
  const { onLost, provider } = readAgentSpec(decision);
  if (onLost === "resend") return provider.effectFree ? "run-again" : "ask";
  return onLost;
}

function requestLossDecision(decision: Decision, invocationId: string): void {
  requestApproval(decision, {
    question: "lost-invocation",
    options: ["continue", "reseed", "stop"],
    subjectId: invocationId,
    action: LOSS_MESSAGE,
    input: null,
    attempt: 2,
    decision: {
      action: "ask",
      reason: `${LOSS_MESSAGE}.`,
      rule: null,
      labels: ["approval_required", "invocation_lost"],
      context: {
        tool: "continue_turn",
        kind: "other",
        sideEffect: "network",
        paths: [],
        capabilities: [],
        repeats: 0,
      },
      approvers: 1,
    },
  });
}

const LOSS_MESSAGE =
  "The connection to the agent was lost during its response, and the agent may have acted; allowing continues the conversation";
