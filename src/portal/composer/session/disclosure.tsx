import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { Icon } from "../../parts/icons.tsx";

/** A button that opens a panel above itself. Escape, a click elsewhere and a second click close the panel. */
export function Disclosure({
  label,
  summary,
  children,
}: {
  /** The name of the button and its panel, such as `Session mode`. */
  readonly label: string;
  /** The visible text of the button. */
  readonly summary: ReactNode;
  readonly children: (close: () => void) => ReactNode;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  useEffect(() => {
    if (!isOpen) return undefined;
    const closeOutside = ({ target }: Event): void => {
      if (target instanceof Node && root.current?.contains(target) !== true) setOpen(false);
    };
    const closeByKey = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      // Escape closes the panel only, and must not cancel the turn.
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
      button.current?.focus();
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    document.addEventListener("keydown", closeByKey, true);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
      document.removeEventListener("keydown", closeByKey, true);
    };
  }, [isOpen]);
  return (
    <div className="composer-disclosure" ref={root}>
      <button
        ref={button}
        type="button"
        className="composer-tool"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <span className="composer-hidden">{label}: </span>
        {summary}
        <Icon name="chevron" />
      </button>
      {isOpen && (
        <section className="composer-popover" id={id} aria-label={label}>
          {children(() => setOpen(false))}
        </section>
      )}
    </div>
  );
}
