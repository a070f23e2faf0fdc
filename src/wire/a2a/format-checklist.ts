import type { PlanEntry, PlanStatus } from "../../domain/outputs/plan.ts";

/** Formats entries as a Markdown checklist. The text depends on the entries alone, so equal entries have equal bytes. */
export function formatChecklist(entries: readonly PlanEntry[]): string {
  return entries.map(formatEntry).join("\n");
}

function formatEntry({ content, status }: PlanEntry): string {
  const note = NOTES[status];
  const mark = status === "completed" ? "x" : " ";
  return `- [${mark}] ${toOneLine(content)}${note === undefined ? "" : ` (${note})`}`;
}

/** A line break inside an entry would end its list item. */
function toOneLine(text: string): string {
  return text.replaceAll(/\s*[\r\n\u2028\u2029]+\s*/g, " ").trim();
}

/** Statuses which a checkbox cannot show. */
const NOTES: { readonly [Status in PlanStatus]?: string } = {
  in_progress: "in progress",
  blocked: "blocked",
  cancelled: "cancelled",
};
