import picocolors from "picocolors";
import type { Style } from "../inspect/style.ts";

export function coloured(): Style {
  const { bold, dim, green, cyan, yellow, red } = picocolors.createColors(true);
  return { strong: bold, dim, good: green, note: cyan, warn: yellow, bad: red };
}
