import type { CallPurpose, Decision } from "../../domain/agent-event.ts";
import { ask } from "../approvals/questions.ts";
import { agentOf, type Work } from "../work.ts";
import { finish } from "./finish-turn.ts";
import { begin } from "./open-upstream.ts";
import { sayWhatWasLost } from "./say-again.ts";
import type { Call, CurrentTurn } from "./turn-state.ts";

export interface WantedCall {
  readonly purpose: CallPurpose;
  /** The lost call that is made again, in the same conversation. */
  readonly again?: Call;
}

/** Does what the agent's definition, or the approver, says about a lost call. It is never made again where it was lost. */
export function followLoss(
  work: Work,
  current: CurrentTurn,
  makeCall: (wanted: WantedCall) => void,
): void {
  const { stage } = current;
  if (stage.type !== "lost") return;
  const { call, failure } = stage;
  // Somebody who was asked is waited for, also when the definition says another thing meanwhile.
  const decision = stage.decision ?? (stage.approvalId === undefined ? decided(work) : "ask");
  switch (decision) {
    case "continue":
      if (current.unsent.length === 0) sayWhatWasLost(work, call.outgoing);
      return makeCall({ purpose: "recovery" });
    case "reseed":
      if (work.state.turn.upstream?.upstreamId === call.upstreamId) begin(work, true);
      return makeCall({ purpose: call.purpose });
    case "run-again":
      return makeCall({ purpose: call.purpose, again: call });
    case "stop": {
      const message = "The connection to the agent was lost, and nobody said how to go on";
      const lost = failure ?? { code: "connection_lost", message, details: {} };
      return finish(work, current, { outcome: "failed", reason: null, failure: lost });
    }
    case "ask":
      if (stage.approvalId === undefined) askAboutCall(work, call.callId);
      return;
    default:
      return finish(work, current, { outcome: "failed", reason: `unexpected ${decision}` });
  }
}

function decided(work: Work): Decision | "ask" {
  const { onLost, provider } = agentOf(work);
  if (onLost === "resend") return provider.effectFree ? "run-again" : "ask";
  return onLost;
}

function askAboutCall(work: Work, callId: string): void {
  ask(work, {
    question: "lost-call",
    options: ["continue", "reseed", "stop"],
    about: callId,
    action: LOST,
    input: null,
    attempt: 2,
    decision: {
      action: "ask",
      reason: `${LOST}.`,
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

const LOST =
  "The connection to the agent was lost during its answer, and the agent may have acted; allowing continues the conversation";
