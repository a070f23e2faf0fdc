import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import type { InboxItem } from "../../wire/live/live-frames.ts";
import { pluralize } from "../../text/pluralize.ts";
import { LongText } from "../parts/fold.tsx";
import { UntrustedText } from "../parts/untrusted-text.tsx";
import { nameSession } from "./inbox-list.ts";
import { describeRequest } from "./request/describe-request.ts";
import { getCommand } from "./request/open-request.ts";

/** A modal dialog. The browser keeps the focus inside. Escape closes the dialog. */
function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="inbox-dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="inbox-dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

/** Lists several requests and confirms a decision about all. */
export function BatchDialog({
  items,
  yes,
  onConfirm,
  onClose,
}: {
  readonly items: readonly InboxItem[];
  readonly yes: boolean;
  readonly onConfirm: (reason: string | undefined) => void;
  readonly onClose: () => void;
}): ReactNode {
  const [reason, setReason] = useState("");
  const verb = yes ? "Allow" : "Deny";
  const count = pluralize(items.length, "request");
  if (items.length === 0) return <EmptyBatchDialog onClose={onClose} />;
  return (
    <Dialog title={`${verb} ${count}?`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm(yes || reason.trim() === "" ? undefined : reason.trim());
        }}
      >
        <ul className="inbox-batch-list">
          {items.map((item) => (
            <BatchEntry key={item.key} item={item} />
          ))}
        </ul>
        {!yes && <ReasonField reason={reason} onChange={setReason} />}
        <div className="request-actions">
          <button
            type="submit"
            className={`request-button ${yes ? "request-primary" : "request-danger"}`}
          >
            {verb} {count}
          </button>
          <button type="button" className="request-button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function EmptyBatchDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Nothing to decide together" onClose={onClose}>
      <p>Only tool calls can be decided together. Decide the selected requests one by one.</p>
      <div className="request-actions">
        <button type="button" className="request-button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** Shows the whole command, because the sentence shows its start only. */
function BatchEntry({ item }: { readonly item: InboxItem }): ReactNode {
  const command = getCommand(item.request);
  return (
    <li>
      <UntrustedText text={describeRequest(item.request)} kind="prose" />
      {command !== undefined && <LongText text={command} label="Command" />}
      <span className="request-muted">
        <UntrustedText text={nameSession(item)} /> · <UntrustedText text={item.agent} />
      </span>
    </li>
  );
}

function ReasonField({
  reason,
  onChange,
}: {
  readonly reason: string;
  readonly onChange: (reason: string) => void;
}): ReactNode {
  const id = useId();
  return (
    <div className="request-field">
      <label className="request-label" htmlFor={id}>
        Reason for the agents <span className="request-optional">optional</span>
      </label>
      <input
        id={id}
        className="request-input"
        value={reason}
        maxLength={4000}
        autoComplete="off"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}
