import { useState, type ReactNode } from "react";
import { Icon } from "../parts/icons.tsx";
import { Spinner } from "../parts/badge.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import type { ActionResult, SessionActions } from "../state/session-actions.ts";
import type { QueuedItem } from "../state/session-view.ts";
import { createQueueRow, describeImages, revokeQueued, type QueueRow } from "./queue-items.ts";
import type { Commands } from "./use-commands.ts";

export interface PendingQueueProps {
  readonly queue: readonly QueuedItem[];
  readonly actions: SessionActions;
  readonly commands: Commands;
  /** The person at this page. Null while the page is not connected. */
  readonly ownPrincipal: string | null;
  /** The reason why changes are disabled. Undefined if changes are possible. */
  readonly disabledReason: string | undefined;
}

/** The accepted messages which have not reached the agent, oldest first. */
export function PendingQueue({
  queue,
  actions,
  commands,
  ownPrincipal,
  disabledReason,
}: PendingQueueProps): ReactNode {
  const [edited, setEdited] = useState<string | null>(null);
  if (queue.length === 0) return null;
  return (
    <ul className="composer-queue" aria-label="Queue of waiting messages">
      {queue.map((item) => {
        const row = createQueueRow(item, ownPrincipal);
        const { edit } = row;
        return edited === item.id && edit !== undefined ? (
          <li key={item.id}>
            <QueueEditor
              row={row}
              commands={commands}
              onClose={() => setEdited(null)}
              onSave={(text) => edit(actions, text)}
            />
          </li>
        ) : (
          <li key={item.id}>
            <QueueText row={row} />
            <QueueButtons
              row={row}
              isPending={commands.isPending(`revoke ${item.id}`)}
              disabledReason={disabledReason}
              onEdit={() => setEdited(item.id)}
              onRevoke={() =>
                void commands.run(`revoke ${item.id}`, () => revokeQueued(actions, item))
              }
            />
          </li>
        );
      })}
    </ul>
  );
}

function QueueText({ row }: { readonly row: QueueRow }): ReactNode {
  const { label, text, principal, tags } = row;
  const images = describeImages(row);
  return (
    <>
      <span className="composer-queue-label">{label}</span>
      <span className="composer-queue-text">
        <UntrustedText text={text} kind="prose" />
        {images !== undefined && <span className="composer-muted"> ({images})</span>}
        {tags.map((tag) => (
          <span key={tag} className="composer-tag">
            <UntrustedText text={tag} />
          </span>
        ))}
        {principal !== null && (
          <span className="composer-muted">
            {" "}
            from <UntrustedText text={principal} />
          </span>
        )}
      </span>
    </>
  );
}

function QueueButtons({
  row,
  isPending,
  disabledReason,
  onEdit,
  onRevoke,
}: {
  readonly row: QueueRow;
  readonly isPending: boolean;
  readonly disabledReason: string | undefined;
  readonly onEdit: () => void;
  readonly onRevoke: () => void;
}): ReactNode {
  const isDisabled = disabledReason !== undefined || isPending;
  const press = (action: () => void) => () => {
    if (!isDisabled) action();
  };
  return (
    <span className="composer-queue-buttons">
      {isPending && <Spinner label="Revoking" />}
      {row.edit !== undefined && (
        <button
          type="button"
          className="composer-icon-button"
          aria-label="Edit"
          title={disabledReason ?? "Edit"}
          aria-disabled={isDisabled}
          onClick={press(onEdit)}
        >
          <Icon name="edit" />
        </button>
      )}
      <button
        type="button"
        className="composer-icon-button"
        aria-label="Revoke"
        title={disabledReason ?? "Revoke before it reaches the agent"}
        aria-disabled={isDisabled}
        onClick={press(onRevoke)}
      >
        <Icon name="cross" />
      </button>
    </span>
  );
}

function QueueEditor({
  row,
  commands,
  onSave,
  onClose,
}: {
  readonly row: QueueRow;
  readonly commands: Commands;
  readonly onSave: (text: string) => Promise<ActionResult>;
  readonly onClose: () => void;
}): ReactNode {
  const [text, setText] = useState(row.text);
  const isSaving = commands.isPending(`replace ${row.id}`);
  const save = async (): Promise<void> => {
    if (text.trim() === "" || isSaving) return;
    if (text === row.text) return onClose();
    // The text stays in the field if the message has reached the agent in the meantime.
    if (await commands.run(`replace ${row.id}`, () => onSave(text))) onClose();
  };
  return (
    <form
      className="composer-queue-editor"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        className="composer-queue-field"
        aria-label={`Text: ${row.label}`}
        rows={Math.min(6, Math.max(2, text.split("\n").length))}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.stopPropagation();
            event.preventDefault();
            onClose();
          }
          if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            void save();
          }
        }}
      />
      <button type="submit" className="composer-button" aria-disabled={isSaving}>
        {isSaving ? "Saving…" : "Save"}
      </button>
      <button type="button" className="composer-button" onClick={onClose}>
        Cancel
      </button>
    </form>
  );
}
