import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { systemClock } from "../../../platform/clock.ts";
import { DEAD_ZONE_MS } from "../../inbox/request/dead-zone.ts";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import type { SessionView } from "../../state/session-view.ts";
import { Dialog } from "../dialog.tsx";
import { nameSession } from "../filter-sessions.ts";
import { navigate } from "../navigation.tsx";
import { formatSessionPath } from "../route.ts";
import { useServices } from "../services.tsx";
import { ShellIcon } from "../shell-icon.tsx";

/** Commands for the whole session: fork, compact, export and delete. */
export function SessionMenu({ view }: { readonly view: SessionView }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const listId = useId();
  const close = (): void => setOpen(false);
  useOutsideClose(menu, isOpen, close);

  return (
    <div className="shell-menu" ref={menu}>
      <button
        type="button"
        className="shell-icon-button"
        aria-label="Session menu"
        aria-expanded={isOpen}
        aria-controls={listId}
        onClick={() => setOpen(!isOpen)}
      >
        <ShellIcon name="more" />
      </button>
      {isOpen && (
        <CommandList id={listId} view={view} onClose={close} onDelete={() => setDeleting(true)} />
      )}
      {isDeleting && <DeleteDialog view={view} onClose={() => setDeleting(false)} />}
    </div>
  );
}

function useOutsideClose(
  container: React.RefObject<HTMLElement | null>,
  isOpen: boolean,
  close: () => void,
): void {
  const latest = useRef(close);
  useEffect(() => {
    latest.current = close;
  });
  useEffect(() => {
    if (!isOpen) return undefined;
    const closeOutside = ({ target }: Event): void => {
      if (target instanceof Node && container.current?.contains(target) === true) return;
      latest.current();
    };
    const closeByKey = ({ key }: KeyboardEvent): void => {
      if (key === "Escape") latest.current();
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    document.addEventListener("keydown", closeByKey);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
      document.removeEventListener("keydown", closeByKey);
    };
  }, [container, isOpen]);
}

interface CommandListProps {
  readonly id: string;
  readonly view: SessionView;
  /** Closes the menu: every command does so first. */
  readonly onClose: () => void;
  readonly onDelete: () => void;
}

function CommandList({ id, view, onClose, onDelete }: CommandListProps): ReactNode {
  const { actionsFor, toasts } = useServices();
  const { sessionId, seq } = view;
  const actions = actionsFor(sessionId);
  const fork = async (): Promise<void> => {
    onClose();
    const result = await toasts.watch("fork", "The session was not forked", actions.fork(seq));
    if (result.ok) navigate(formatSessionPath(result.value));
  };
  const compact = async (): Promise<void> => {
    onClose();
    await toasts.watch("compact", "The conversation was not compacted", actions.compact());
  };
  const requestDeletion = (): void => {
    onClose();
    onDelete();
  };
  return (
    <ul className="shell-menu-list" id={id}>
      <li>
        <button type="button" disabled={seq === 0} onClick={() => void fork()}>
          Fork the session
        </button>
      </li>
      <li>
        <button type="button" disabled={seq === 0} onClick={() => void compact()}>
          Compact the conversation
        </button>
      </li>
      <li>
        <a href={actions.exportUrl} download onClick={onClose}>
          Export as JSON lines
        </a>
      </li>
      <li>
        <button type="button" className="shell-danger-text" onClick={requestDeletion}>
          Delete …
        </button>
      </li>
    </ul>
  );
}

function DeleteDialog({
  view,
  onClose,
}: {
  readonly view: SessionView;
  readonly onClose: () => void;
}): ReactNode {
  const { actionsFor, toasts } = useServices();
  const isDead = useDeadZone("delete");
  const remove = async (): Promise<void> => {
    if (isDead) return;
    onClose();
    const action = actionsFor(view.sessionId).remove();
    const result = await toasts.watch("delete", "The session was not deleted", action);
    if (result.ok) navigate("/");
  };
  return (
    <Dialog label="Delete the session" onClose={onClose}>
      <h2>Delete this session?</h2>
      <p>
        <span className="shell-strong">
          <UntrustedText text={nameSession(view)} />
        </span>{" "}
        and its whole history are removed for everybody. This cannot be undone.
      </p>
      <div className="shell-dialog-buttons">
        <button type="button" className="shell-button" onClick={onClose}>
          Keep the session
        </button>
        <button
          type="button"
          className="shell-button shell-button-danger"
          aria-disabled={isDead}
          onClick={() => void remove()}
        >
          Delete
        </button>
      </div>
    </Dialog>
  );
}

/**
 * True for a moment after a destructive button has appeared or moved: a finger aimed at another button must not press
 * this button.
 */
function useDeadZone(position: unknown): boolean {
  const [settledPosition, setSettledPosition] = useState<unknown>(NOT_SETTLED);
  useEffect(
    () => systemClock.schedule(DEAD_ZONE_MS, () => setSettledPosition(position)),
    [position],
  );
  return settledPosition !== position;
}

const NOT_SETTLED = Symbol("not settled");
