import { useId, useState, type ReactNode } from "react";
import { Icon } from "./icons.tsx";
import { pluralize } from "../../text/pluralize.ts";
import { ScrollBox } from "./scroll-box.tsx";
import { UntrustedText } from "./untrusted-text.tsx";
import type { TextKind } from "./split-visible-text.ts";
import "./parts.css";

export interface FoldProps {
  readonly summary: ReactNode;
  readonly children: ReactNode;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
  readonly className?: string;
  /** Buttons next to the summary. A button cannot be inside the summary, which is a button itself. */
  readonly actions?: ReactNode;
}

/** A summary line which shows or hides its content. The caller holds the state, because lists unmount their rows. */
export function Fold(props: FoldProps): ReactNode {
  const { summary, children, isOpen, onToggle, className = "", actions } = props;
  const id = useId();
  return (
    <div className={`part-fold ${className}`} data-open={isOpen}>
      <div className="part-fold-head">
        <button
          type="button"
          className="part-fold-button"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          onClick={() => onToggle(!isOpen)}
        >
          <Icon name="chevron" />
          {summary}
        </button>
        {actions}
      </div>
      {isOpen && (
        <div className="part-fold-body" id={id}>
          {children}
        </div>
      )}
    </div>
  );
}

/** Text with its line breaks. A long text shows its first lines and a button for all lines. */
export function LongText({
  text,
  label,
  kind = "code",
  maxLines = 14,
}: {
  readonly text: string;
  /** For screen readers: the box can be scrolled by keyboard. */
  readonly label: string;
  readonly kind?: TextKind;
  readonly maxLines?: number;
}): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const visibleLength = isWhole ? MAX_LENGTH : findLineEnd(text, maxLines);
  const visible = text.slice(0, visibleLength);
  const isCut = visible.length < text.length;
  return (
    <div className="part-long">
      <ScrollBox className="part-output" label={label}>
        <UntrustedText text={visible} kind={kind} />
        {isCut && "…"}
      </ScrollBox>
      {isCut && !isWhole && (
        <button type="button" className="part-text-button" onClick={() => setWhole(true)}>
          Show all {pluralize(countLines(text), "line")}
        </button>
      )}
      {isCut && isWhole && <p className="part-note">The rest is too long to show here</p>}
    </div>
  );
}

const MAX_LENGTH = 200_000;
/** Characters of a folded text, for texts with very long lines. */
const FOLDED_LENGTH = 2000;

function findLineEnd(text: string, lines: number): number {
  let end = 0;
  for (let line = 0; line < lines && end !== -1; line++) end = text.indexOf("\n", end + 1);
  // A fold of one or two lines is not worth a button.
  const isNearEnd = end === -1 || text.length - end < 80;
  return Math.min(isNearEnd ? text.length : end, FOLDED_LENGTH);
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
