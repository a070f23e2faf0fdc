import type { ReactNode } from "react";
import { ToolArguments, ToolDecision, ToolProgressBar, ToolResultView } from "./tool-details.tsx";
import { ApprovalLine } from "./approval-line.tsx";
import { describeToolInput, describeToolStatus, isToolNotable } from "../describe-tool.ts";
import type { ToolStatus } from "../describe-tool.ts";
import { Badge } from "../../parts/badge.tsx";
import { DiffView } from "../../parts/diff/diff-view.tsx";
import { ElapsedTime } from "../../parts/time.tsx";
import { Fold } from "../../parts/fold.tsx";
import { StatusIcon } from "./status-icon.tsx";
import { StopButton } from "./stop-button.tsx";
import { ActionError, useAction, useOpenCard, useThread } from "../thread-context.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { formatDuration } from "../../../text/format-duration.ts";
import type { ToolItem } from "../../state/session-view.ts";

/** A tool call: one line after a success, with details while the call runs or if people should look. Diffs stay visible. */
export function ToolCard({ item }: { readonly item: ToolItem }): ReactNode {
  const { renderApproval } = useThread();
  const [isOpen, setOpen] = useOpenCard(item.key, isToolNotable(item));
  const stopping = useAction();
  const status = describeToolStatus(item);
  const open = item.approvals.filter(({ resolution }) => resolution === null);
  const resolved = item.approvals.filter(({ resolution }) => resolution !== null);
  return (
    <div className="thread-tool" data-tone={status.tone} data-waiting={open.length > 0}>
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={<ToolSummary item={item} status={status} />}
        actions={<StopButton item={item} running={stopping} />}
      >
        {item.problem !== undefined && <p className="thread-problem">{item.problem}</p>}
        {/* The form of an open request shows arguments, rule and diffs itself. */}
        {open.length === 0 && (
          <>
            <ToolArguments item={item} />
            {item.decision !== undefined && <ToolDecision decision={item.decision} />}
          </>
        )}
        {resolved.map((approval) => (
          <ApprovalLine key={approval.approvalId} approval={approval} />
        ))}
        <ToolProgressBar item={item} />
        {item.result !== null && <ToolResultView item={item} result={item.result} />}
        {open.map((approval) => (
          <div key={approval.approvalId}>{renderApproval(approval)}</div>
        ))}
      </Fold>
      <ActionError error={stopping.error} />
      {open.length === 0 && (
        <div className="thread-diffs">
          {item.diffs.map((diff, index) => (
            <DiffView key={`${index} ${diff.path}`} diff={diff} isPlanned={item.ending === null} />
          ))}
        </div>
      )}
    </div>
  );
}

function ToolSummary({
  item,
  status,
}: {
  readonly item: ToolItem;
  readonly status: ToolStatus;
}): ReactNode {
  const isPlain = status.tone === "good";
  return (
    <>
      <StatusIcon status={status} />
      <span className="thread-tool-name">
        <UntrustedText text={item.name} />
      </span>
      <span className="thread-tool-about">
        <UntrustedText text={describeToolInput(item)} />
      </span>
      <span className="thread-tool-facts">
        {item.attempt > 1 && <span>attempt {item.attempt}</span>}
        {isPlain ? (
          <span className="part-hidden">{status.label}</span>
        ) : (
          <Badge tone={status.tone}>{status.label}</Badge>
        )}
        <ToolTime item={item} />
      </span>
    </>
  );
}

function ToolTime({ item }: { readonly item: ToolItem }): ReactNode {
  if (item.durationMs !== null) return <span>{formatDuration(item.durationMs)}</span>;
  if (item.ending !== null || item.startedAt === null) return null;
  return <ElapsedTime from={item.startedAt} />;
}
