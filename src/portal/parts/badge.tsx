import type { ReactNode } from "react";
import "./parts.css";

export type Tone = "neutral" | "good" | "warning" | "danger" | "accent";

/** A short word in a frame, such as a state or a count. */
export function Badge({
  tone = "neutral",
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}): ReactNode {
  return <span className={`part-badge part-tone-${tone}`}>{children}</span>;
}

/** Shows that work is running. `label` is for screen readers; without a label, the text next to the spinner has the meaning. */
export function Spinner({ label }: { readonly label?: string }): ReactNode {
  return (
    <>
      <span className="part-spinner" aria-hidden="true" />
      {label !== undefined && <span className="part-hidden">{label}</span>}
    </>
  );
}

/** A keyboard shortcut, such as `Esc` or `Ctrl K`. */
export function KeyHint({ keys }: { readonly keys: string }): ReactNode {
  return <kbd className="part-key">{keys}</kbd>;
}
