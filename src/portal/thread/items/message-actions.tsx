import type { ReactNode } from "react";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon, type IconName } from "../../parts/icons.tsx";
import { ActionError, useThread, type RunningAction } from "../thread-context.tsx";

/** The buttons of a message. Visible on hover and focus, and always on touch screens. */
export function MessageActions({
  text,
  seq,
  running,
  children,
}: {
  /** The text to copy. */
  readonly text: string;
  /** The position to fork from. */
  readonly seq: number;
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
        <ActionButton
          icon="fork"
          label="Fork from here"
          isDisabled={running.isRunning}
          onPress={() => running.run(() => actions.fork(seq), onOpenSession)}
        />
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
