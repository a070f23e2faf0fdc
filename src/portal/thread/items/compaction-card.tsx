import type { ReactNode } from "react";
import { formatQuantity } from "../../../domain/budget.ts";
import type { CompactionReceipt, TokenMeasurement } from "../../../domain/transcript/compaction.ts";
import { formatCompaction } from "../../../domain/transcript/format-compaction.ts";
import { pluralize } from "../../../text/pluralize.ts";
import { Fold, LongText } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icons.tsx";
import type { CompactionItem } from "../../state/session-view.ts";
import { useOpenCard, useThread } from "../thread-context.tsx";
import { OutputFacts, type OutputFact } from "./output-facts.tsx";

/** A compaction. The messages above stay readable here; the link has them as the model received them. */
export function CompactionCard({ item }: { readonly item: CompactionItem }): ReactNode {
  const { actions } = useThread();
  const [isOpen, setOpen] = useOpenCard(item.key, false);
  const { receipt } = item;
  const { snapshotAssetId, replacement, recap } = receipt;
  return (
    <div className="thread-tool thread-output">
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={
          <>
            <Icon name="archive" />
            <span className="thread-output-line">{formatCompaction(receipt)}</span>
          </>
        }
        actions={
          snapshotAssetId !== null && (
            <a className="part-text-button" href={actions.blobUrl(snapshotAssetId)} download>
              Archived messages
            </a>
          )
        }
      >
        <OutputFacts facts={listFacts(receipt)} />
        <div className="thread-detail">
          <div className="thread-label">
            {recap === null ? "Note in place of the messages" : "Summary in place of the messages"}
          </div>
          <LongText text={replacement} label="Replacement" kind="prose" />
        </div>
        {snapshotAssetId === null && (
          <p className="part-note">The archived messages could not be stored separately</p>
        )}
      </Fold>
    </div>
  );
}

function listFacts(receipt: CompactionReceipt): readonly OutputFact[] {
  const { mode, strategy, requestedStrategy, archivedMessages, truncatedMessages } = receipt;
  const kept = receipt.keptHead + receipt.keptTail;
  const isOther = strategy !== requestedStrategy;
  return [
    {
      name: "Reason",
      content: mode === "manual" ? "A person asked" : "The threshold was exceeded",
    },
    {
      name: "Strategy",
      content: isOther ? `${strategy} in place of ${requestedStrategy}` : strategy,
    },
    { name: "Archived", content: pluralize(archivedMessages, "message") },
    {
      name: "Not in the summary",
      content: truncatedMessages === 0 ? "" : pluralize(truncatedMessages, "message"),
    },
    { name: "Unchanged", content: pluralize(kept, "message") },
    { name: "Before", content: describeTokens(receipt.before) },
    { name: "After", content: describeTokens(receipt.after) },
  ];
}

function describeTokens({ source, tokens }: TokenMeasurement): string {
  if (tokens === null) return "not measured";
  return `${formatQuantity("tokens", tokens)}, ${source === "estimate" ? "estimated" : "counted"}`;
}
