import type { ReactNode, Ref } from "react";
import "./parts.css";

/** A box which scrolls its content. The box can be focused, so that the arrow keys scroll. */
export function ScrollBox({
  label,
  className,
  ref,
  children,
}: {
  /** The content, for screen readers. */
  readonly label: string;
  readonly className: string;
  readonly ref?: Ref<HTMLDivElement>;
  readonly children: ReactNode;
}): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role -- a fieldset is for forms
    <div ref={ref} className={className} role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
