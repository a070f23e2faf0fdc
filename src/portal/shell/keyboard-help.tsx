import { useEffect, useState, type ReactNode } from "react";
import { Dialog } from "./dialog.tsx";

const KEYS: readonly (readonly [string, string])[] = [
  ["?", "Show this list"],
  ["Enter", "Send the message"],
  ["Shift Enter", "Begin a new line"],
  ["Esc", "Cancel the running turn"],
  ["j, k", "Next and previous request in the inbox"],
  ["a", "Allow the request"],
  ["d", "Deny the request"],
  ["e", "Edit the arguments"],
];

/** Opens with `?` outside of fields. */
export function KeyboardHelp(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (event.key !== "?" || event.defaultPrevented || isField(event.target)) return;
      event.preventDefault();
      setOpen(true);
    };
    document.addEventListener("keydown", open);
    return () => document.removeEventListener("keydown", open);
  }, []);
  if (!isOpen) return null;
  return (
    <Dialog label="Keyboard" onClose={() => setOpen(false)}>
      <h2>Keyboard</h2>
      <dl className="shell-keys">
        {KEYS.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <div className="shell-dialog-buttons">
        <button type="button" className="shell-button" onClick={() => setOpen(false)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null
  );
}
