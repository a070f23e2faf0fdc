import type { ReactNode } from "react";
import { describeResolution } from "../describe-tool.ts";
import { ClockTime } from "../../parts/time.tsx";
import { Icon } from "../../parts/icons.tsx";
import { useThread } from "../thread-context.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { formatAnswer } from "../../../domain/question.ts";
import { DENYING_DECISIONS } from "../../../domain/policy/approval-decision.ts";
import type { ApprovalItem, ApprovalView } from "../../state/session-view.ts";

/** A resolved request in one line: the decision, the person, the time, the reason. */
export function ApprovalLine({ approval }: { readonly approval: ApprovalView }): ReactNode {
  const { resolution, request } = approval;
  if (resolution === null) return null;
  const { reason, answer } = resolution;
  const isDenied = resolution.decision === DENYING_DECISIONS[request.question];
  return (
    <div className="thread-resolution">
      <span className={`thread-status part-tone-${isDenied ? "danger" : "good"}`}>
        <Icon name={isDenied ? "cross" : "check"} />
      </span>
      <span>
        <UntrustedText text={describeResolution(approval)} />
        {answer !== undefined && answer !== true && (
          <>
            {": "}
            <UntrustedText text={formatAnswer(answer)} />
          </>
        )}
        {reason !== undefined && (
          <span className="part-muted">
            {" — "}
            <UntrustedText text={reason} />
          </span>
        )}
      </span>
      <ClockTime at={resolution.at} />
    </div>
  );
}

/** A request about the turn itself: its form while open, then one line. */
export function TurnApproval({ item }: { readonly item: ApprovalItem }): ReactNode {
  const { renderApproval } = useThread();
  const { approval } = item;
  if (approval.resolution === null) return renderApproval(approval);
  return (
    <div className="thread-notice">
      <p className="part-muted">
        <UntrustedText text={approval.request.action} />
      </p>
      <ApprovalLine approval={approval} />
    </div>
  );
}
