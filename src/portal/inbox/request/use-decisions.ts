import { useEffect, useReducer } from "react";
import { systemClock } from "../../../platform/clock.ts";
import type { ActionResult, ApprovalChoice, SessionActions } from "../../state/session-actions.ts";
import { changeDecisionLog, EMPTY_LOG, isApproval, type DecisionLog } from "./decision-log.ts";
import { describeRequest } from "./describe-request.ts";
import type { OpenRequest } from "./open-request.ts";

/** A request with the key under which its decision is tracked. */
export interface KeyedRequest extends OpenRequest {
  readonly key: string;
  readonly sessionId: string;
}

export interface Decisions {
  readonly log: DecisionLog;
  readonly send: (
    keyed: KeyedRequest,
    actions: Pick<SessionActions, "decide">,
    choice: ApprovalChoice,
    label: string,
  ) => void;
  readonly dismiss: (key: string) => void;
}

/** Sends decisions, and tracks each decision until its request is closed. `open`: the open requests. */
export function useDecisions(
  open: readonly Pick<KeyedRequest, "key" | "votes">[],
  isConnected: boolean,
): Decisions {
  const [log, change] = useReducer(changeDecisionLog, EMPTY_LOG);
  useEffect(() => {
    const votes = new Map(open.map((item) => [item.key, item.votes.length]));
    change({ type: "listed", open: votes });
  }, [open]);
  useEffect(() => {
    if (isConnected) change({ type: "reconnected" });
  }, [isConnected]);

  const settle = async (
    ...[{ key, sessionId, request, votes }, actions, choice, label]: Parameters<Decisions["send"]>
  ): Promise<void> => {
    const decided = { key, votes: votes.length, label };
    change({ type: "started", request: decided });
    const result = await sendDecision(actions, request.approvalId, choice);
    const record = { key, sessionId, label, sentence: describeRequest(request) };
    change({
      type: "finished",
      request: decided,
      result,
      record: { ...record, isApproval: isApproval(choice), at: systemClock.now() },
    });
  };
  return {
    log,
    send: (...parameters) => void settle(...parameters),
    dismiss: (key) => change({ type: "dismissed", key }),
  };
}

/** Treats an exception as a failed decision: the card must not stay in the state "sending". */
async function sendDecision(
  actions: Pick<SessionActions, "decide">,
  approvalId: string,
  choice: ApprovalChoice,
): Promise<ActionResult> {
  try {
    return await actions.decide(approvalId, choice);
  } catch (error) {
    const message = error instanceof Error ? error.message : "The decision was not sent";
    return { ok: false, error: { code: "not_sent", message } };
  }
}
