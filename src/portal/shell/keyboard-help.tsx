import { useEffect, type ReactNode } from "react";
import { KeyHint } from "../parts/badge.tsx";
import { Dialog } from "./dialog.tsx";
import { KEYBOARD } from "./keyboard.ts";

export interface KeyboardHelpProps {
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  readonly onClose: () => void;
}

/** The list of all keys. Opens with `?` outside of fields. */
export function KeyboardHelp({ isOpen, onOpen, onClose }: KeyboardHelpProps): ReactNode {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== "?" || event.defaultPrevented || isField(event.target)) return;
      event.preventDefault();
      onOpen();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [onOpen]);
  if (!isOpen) return null;
  return (
    <Dialog label="Keys" onClose={onClose}>
      <h2>Keys</h2>
      {KEYBOARD.map(({ name, entries }) => (
        <section key={name} className="shell-keys" aria-label={name}>
          <h3>{name}</h3>
          <dl>
            {entries.map(({ label, meaning }) => (
              <div key={label}>
                <dt>
                  <KeyHint keys={label} />
                </dt>
                <dd>{meaning}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <div className="shell-dialog-buttons">
        <button type="button" className="shell-button" onClick={onClose}>
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
