import type { ReactNode } from "react";
import { describeDecision } from "../describe-tool.ts";
import { Badge } from "../../parts/badge.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { LongText } from "../../parts/fold.tsx";
import { useThread } from "../thread-context.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { PolicyDecision } from "../../../domain/policy/policy-decision.ts";
import type { ToolItem } from "../../state/session-view.ts";
import type { ToolResult, ToolResultPart } from "../../../domain/tools/tool-call.ts";

/** The arguments: as written by the model while they arrive, then by name. */
export function ToolArguments({ item }: { readonly item: ToolItem }): ReactNode {
  const { call, editedInput, inputText } = item;
  const input = editedInput ?? call?.input ?? null;
  if (input !== null && Object.keys(input).length === 0) return null;
  return (
    <div className="thread-detail">
      <div className="thread-label">
        Arguments
        {editedInput !== undefined && <Badge tone="accent">edited by an approver</Badge>}
      </div>
      {input === null ? (
        inputText !== "" && <LongText text={inputText} label="Arguments" />
      ) : (
        <JsonView value={input} label="Arguments" />
      )}
    </div>
  );
}

/** The policy decision with its rule and reason. */
export function ToolDecision({ decision }: { readonly decision: PolicyDecision }): ReactNode {
  const { reason, labels, approval } = decision;
  return (
    <div className="thread-detail">
      <div className="thread-label">Policy</div>
      <div>
        <UntrustedText text={describeDecision(decision)} />
        {reason !== "" && (
          <span className="part-muted">
            {" — "}
            <UntrustedText text={reason} />
          </span>
        )}
        {approval?.risk !== undefined && (
          <Badge tone="warning">
            risk: <UntrustedText text={approval.risk} />
          </Badge>
        )}
        {labels.slice(0, MAX_LABELS).map((label) => (
          <Badge key={label}>
            <UntrustedText text={label} />
          </Badge>
        ))}
      </div>
    </div>
  );
}

const MAX_LABELS = 12;

/** The progress of a running tool. Without a total, the bar moves without an end. */
export function ToolProgressBar({ item }: { readonly item: ToolItem }): ReactNode {
  const { progress, ending } = item;
  if (progress === null || ending !== null) return null;
  const { text, amount } = progress;
  const label = text === "" ? "Progress" : text;
  return (
    <div className="thread-detail thread-progress">
      {amount !== undefined && (
        <progress
          aria-label={label}
          max={amount.total ?? 1}
          value={amount.total === undefined ? undefined : amount.progress}
        />
      )}
      <span className="part-muted">
        <UntrustedText text={text} />
      </span>
    </div>
  );
}

export function ToolResultView({
  item,
  result,
}: {
  readonly item: ToolItem;
  readonly result: ToolResult;
}): ReactNode {
  const { actions } = useThread();
  const label = result.isError ? "Error" : "Result";
  return (
    <div className="thread-detail" data-error={result.isError}>
      <div className="thread-label">
        {label}
        {item.blobId !== undefined && (
          <a href={actions.blobUrl(item.blobId)} target="_blank" rel="noopener noreferrer">
            Whole output
          </a>
        )}
      </div>
      {result.parts.length === 0 && <p className="part-note">Nothing</p>}
      {result.parts.map((part, index) => (
        <ResultPart key={index} part={part} label={label} />
      ))}
    </div>
  );
}

function ResultPart({
  part,
  label,
}: {
  readonly part: ToolResultPart;
  readonly label: string;
}): ReactNode {
  switch (part.type) {
    case "text":
      return <LongText text={part.text} label={label} />;
    case "json":
      return <JsonView value={part.value} label={label} />;
    case "unknown":
      return <JsonView value={part.raw} label={label} />;
  }
}
