import type { ReactNode } from "react";

export type ShellIconName = keyof typeof PATHS;

/** A decorative icon in the colour of its text. */
export function ShellIcon({ name }: { readonly name: ShellIconName }): ReactNode {
  return (
    <svg className="shell-icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Strokes in a square of 20 units. */
const PATHS = {
  menu: "M3 5.5h14M3 10h14M3 14.5h14",
  close: "M5 5l10 10M15 5L5 15",
  plus: "M10 4v12M4 10h12",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4",
  inbox: "M3 11l2.2-6.5h9.6L17 11v4.5H3zM3 11h4l1 2h4l1-2h4",
  sessions: "M4 5h12M4 10h12M4 15h8",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  panel: "M3 4h14v12H3zM12.5 4v12",
  help: "M7.5 7.5a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.8M10 14.5h.01M10 2.5a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15z",
  edit: "M4 16l.8-3.4L13.2 4l2.8 2.8-8.6 8.4z",
  down: "M5 8l5 5 5-5",
} as const;

/** The mark of Spanline: a bridge between two banks. */
export function BridgeMark(): ReactNode {
  return (
    <svg className="shell-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect className="shell-mark-ground" width="32" height="32" rx="8" />
      <path d="M4 20c5-11 19-11 24 0M4 23.5h24M10 16v7.5M16 13v10.5M22 16v7.5" />
    </svg>
  );
}

/** A wide span for empty states. */
export function SpanIllustration(): ReactNode {
  return (
    <svg className="shell-span" viewBox="0 0 240 72" aria-hidden="true" focusable="false">
      <path d="M0 52h240" />
      <path d="M8 52c36-56 76-56 112 0 36-56 76-56 112 0" />
      <path
        className="shell-span-cables"
        d="M36 52V27M64 52V12M92 52V27M148 52V27M176 52V12M204 52V27"
      />
      <path className="shell-span-water" d="M12 62h28M60 66h40M128 62h36M184 66h44" />
    </svg>
  );
}
