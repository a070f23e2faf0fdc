import { useMemo, useRef, useState, type ReactNode } from "react";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { SessionActions } from "../../state/session-actions.ts";
import { CountdownLabel } from "./countdown-label.tsx";
import { describeRequest } from "./describe-request.ts";
import { nameRequest, type OpenRequest } from "./open-request.ts";
import type { Decider } from "./request-choices.ts";
import { RequestFacts } from "./request-details.tsx";
import { RequestForm, type RequestPanel } from "./request-form.tsx";
import { useDecisions } from "./use-decisions.ts";
import { useMovedForm } from "./use-moved-form.tsx";
import "./request.css";

export interface ApprovalFormProps {
  /** An open approval of a session's view, or an inbox item. */
  readonly approval: OpenRequest;
  readonly actions: Pick<SessionActions, "decide">;
  readonly decider: Decider;
  /** Omits the arguments and diffs, for a tool card which shows both. */
  readonly isBrief?: boolean;
}

/** An open request inside the thread: the question, its reasons and the controls. */
export function ApprovalForm({
  approval,
  actions,
  decider,
  isBrief = false,
}: ApprovalFormProps): ReactNode {
  const { request } = approval;
  const { approvalId } = request;
  const [panel, setPanel] = useState<RequestPanel | null>(null);
  const keyed = useMemo(
    () => ({ ...approval, key: approvalId, sessionId: "" }),
    [approval, approvalId],
  );
  const open = useMemo(() => [keyed], [keyed]);
  const { log, send, dismiss } = useDecisions(open, decider.isConnected);
  const form = useRef<HTMLElement>(null);
  const isHeld = useMovedForm(form);
  return (
    <section
      ref={form}
      className="request-inline"
      aria-label={`${nameRequest(request)} needs a decision`}
    >
      <div className="request-head">
        <span className="request-kind">{nameRequest(request)}</span>
        <CountdownLabel request={request} timeOffset={decider.timeOffset ?? 0} />
      </div>
      <p className="request-sentence">
        <UntrustedText text={describeRequest(request)} kind="prose" />
      </p>
      <RequestFacts open={approval} isBrief={isBrief} />
      <RequestForm
        open={approval}
        decider={decider}
        status={log.statuses.get(approvalId)}
        panel={panel}
        isHeld={isHeld}
        onPanel={setPanel}
        onChoose={(choice, label) => {
          setPanel(null);
          send(keyed, actions, choice, label);
        }}
        onDismiss={() => dismiss(approvalId)}
      />
    </section>
  );
}
