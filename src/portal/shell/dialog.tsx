import { useEffect, useRef, type ReactNode } from "react";

/** A modal dialog. The browser keeps the focus inside and closes the dialog with Escape. */
export function Dialog({
  label,
  onClose,
  children,
}: {
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog ref={dialog} className="shell-dialog" aria-label={label} onClose={onClose}>
      {children}
    </dialog>
  );
}
