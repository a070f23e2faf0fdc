import type { ReactNode } from "react";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";
import { ActionError, useThread, type RunningAction } from "../thread-context.tsx";

/** The buttons of a message. Visible on hover and focus, and always on touch screens. */
export function MessageActions({
  text,
  seq,
  forkSeq,
  forkDraft,
  running,
  children,
}: {
  /** The text to copy. */
  readonly text: string;
  /** The position of the message in the log. */
  readonly seq: number;
  /** The last event of the copy. Null: the session cannot be forked here. */
  readonly forkSeq: number | null;
  /** The text in the composer of the copy. Absent: the copy contains the message. */
  readonly forkDraft?: string;
  readonly running: RunningAction;
  /** Further buttons. */
  readonly children?: ReactNode;
}): ReactNode {
  const { actions, onOpenSession } = useThread();
  return (
    <>
      <div className="thread-actions">
        <CopyButton text={text} label="Copy message" />
        {children}
        {forkSeq !== null && (
          <ActionButton
            icon="fork"
            label={
              forkDraft === undefined ? "Fork after this message" : "Fork and edit this message"
            }
            isDisabled={running.isRunning}
            onPress={() =>
              running.run(
                () => actions.fork(forkSeq),
                (sessionId) => onOpenSession(sessionId, forkDraft),
              )
            }
          />
        )}
        <a
          className="part-icon-button"
          href={`#${seq}`}
          title="Link to this message"
          aria-label="Link to this message"
        >
          <Icon name="link" />
        </a>
      </div>
      <ActionError error={running.error} />
    </>
  );
}

export function ActionButton({
  icon,
  label,
  isDisabled,
  onPress,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly isDisabled: boolean;
  readonly onPress: () => void;
}): ReactNode {
  return (
    <button
      type="button"
      className="part-icon-button"
      title={label}
      aria-label={label}
      disabled={isDisabled}
      onClick={onPress}
    >
      <Icon name={icon} />
    </button>
  );
}
