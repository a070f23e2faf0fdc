import picocolors from "picocolors";
import type { Style } from "../../../inspect/trace-style.ts";

export function createColorStyle(): Style {
  const { bold, dim, green, cyan, yellow, red } = picocolors.createColors(true);
  return { strong: bold, dim, good: green, note: cyan, warn: yellow, bad: red };
}

/** Styles for text of people and agents only. */
export function createColorMarks(): {
  readonly emphasis: (text: string) => string;
  readonly struck: (text: string) => string;
  readonly link: (text: string) => string;
} {
  const { italic, strikethrough, underline } = picocolors.createColors(true);
  return { emphasis: italic, struck: strikethrough, link: underline };
}
