import type { ReactNode } from "react";
import "./parts.css";

export type IconName = keyof typeof PATHS;

/** A decorative icon in the colour of its text. The text or label next to the icon has the meaning. */
export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="part-icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Strokes in a square of 16 units. */
const PATHS = {
  check: "M3 8.5l3.2 3.2L13 5",
  cross: "M4 4l8 8M12 4l-8 8",
  chevron: "M6 4l4 4-4 4",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3",
  edit: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2z",
  fork: "M5 2.5v11M5 8c4 0 6-1.2 6-4.5M9 5l2-2 2 2",
  link: "M6.8 9.2l2.4-2.4M7.5 4.8l1.3-1.3a2.6 2.6 0 0 1 3.7 3.7l-1.3 1.3M8.5 11.2l-1.3 1.3a2.6 2.6 0 0 1-3.7-3.7l1.3-1.3",
  down: "M8 3v10M4 9l4 4 4-4",
  clock: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 5v3l2 1.5",
  warning: "M8 2.5l6 10.5H2zM8 6.5v3M8 11.4v.1",
  info: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 7.5v3.2M8 5.2v.1",
  thought: "M3 8a5 4.2 0 1 1 4.6 4.2L4 14l.6-2.8A4.6 4.6 0 0 1 3 8zM6 8h.1M8 8h.1M10 8h.1",
  person:
    "M8 8.2a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2zM3 13.5c.6-2.4 2.6-3.5 5-3.5s4.4 1.1 5 3.5",
  bell: "M4 11.5h8l-1-1.7V7a3 3 0 0 0-6 0v2.8zM7 13.5h2",
  file: "M4 2.5h5l3 3v8H4zM9 2.5v3h3",
  tool: "M10 3a3 3 0 0 0-2.6 4.4L3 11.8 4.2 13l4.4-4.4A3 3 0 0 0 12.9 5l-1.8 1.7-1.5-.3-.3-1.5L11 3.1z",
  empty: "M5 8a3 3 0 1 0 6 0 3 3 0 1 0-6 0",
  blocked: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM4.2 4.2l7.6 7.6",
  pause: "M6 4v8M10 4v8",
  table: "M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6",
  handoff: "M3 8h9M8.5 4.5L12 8l-3.5 3.5M3 4v8",
  archive: "M2.5 3.5h11v3h-11zM3.5 6.5v6h9v-6M6.5 9h3",
} as const;
