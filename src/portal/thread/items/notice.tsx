import type { ReactNode } from "react";
import { Badge } from "../../parts/badge.tsx";
import { Fold, LongText } from "../../parts/fold.tsx";
import { Icon } from "../../parts/icons.tsx";
import { useOpenCard } from "../thread-context.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { ProgressAmount } from "../../../domain/events/tool-events.ts";
import type { NoticeItem, ReminderItem } from "../../state/session-view.ts";
import type { ReminderMode } from "../../../domain/reminder.ts";

/** A fact about the session, with further lines folded. */
export function Notice({ item }: { readonly item: NoticeItem }): ReactNode {
  const [isOpen, setOpen] = useOpenCard(item.key, false);
  const { level, text, details, amount } = item;
  const content = (
    <>
      <Icon name={level === "info" ? "info" : "warning"} />
      <span>
        <UntrustedText text={text} />
      </span>
      {amount !== undefined && <Amount amount={amount} label={text} />}
    </>
  );
  return (
    <div className="thread-notice" data-level={level}>
      {details === undefined ? (
        <p className="thread-line">{content}</p>
      ) : (
        <Fold isOpen={isOpen} onToggle={setOpen} summary={content}>
          <LongText text={details} label="Details" />
        </Fold>
      )}
    </div>
  );
}

/** The progress of the agent in its own numbers. Without a total, only the number is known. */
function Amount({
  amount: { progress, total },
  label,
}: {
  readonly amount: ProgressAmount;
  readonly label: string;
}): ReactNode {
  if (total === undefined) return <span className="thread-amount">{progress}</span>;
  return (
    <span className="thread-amount">
      <progress max={total > 0 ? total : 1} value={progress} aria-label={label.slice(0, 100)} />
      {progress} of {total}
    </span>
  );
}

/** Context for the agent which is not a message of a person. */
export function ReminderNote({ item }: { readonly item: ReminderItem }): ReactNode {
  const [isOpen, setOpen] = useOpenCard(item.key, false);
  const { body, tags, mode } = item.reminder;
  return (
    <div className="thread-notice">
      <Fold
        isOpen={isOpen}
        onToggle={setOpen}
        summary={
          <>
            <Icon name="bell" />
            <span className="thread-tool-name">Reminder</span>
            <span className="thread-tool-about">
              <UntrustedText text={body.slice(0, 200)} />
            </span>
          </>
        }
      >
        <LongText text={body} label="Reminder" kind="prose" />
        <p className="part-note">
          {MODE_TEXTS[mode]}
          {tags.slice(0, MAX_TAGS).map((tag) => (
            <Badge key={tag}>
              <UntrustedText text={tag} />
            </Badge>
          ))}
        </p>
      </Fold>
    </div>
  );
}

const MAX_TAGS = 12;

const MODE_TEXTS: { readonly [Mode in ReminderMode]: string } = {
  interrupt_immediate: "Interrupted the agent",
  finish_step: "Sent with the next request to the model",
  audit_only: "For the record only: the model does not receive it",
};
