import { silent } from "../../../domain/event-rules.ts";
import type { WatchEvent } from "../../../domain/events/watch-events.ts";
import { formatFileChanges } from "../../../domain/outputs/file-watch.ts";
import type { ViewRules } from "../view-rules.ts";

export const WATCH_RULES: ViewRules<WatchEvent> = {
  "watch.added": (draft, { paths }, envelope) =>
    draft.addNotice(envelope, "info", `Files are watched: ${paths.join(", ")}`),
  "watch.removed": silent("the changes of files end"),
  "files.changed": (draft, { entries }, envelope) => {
    const hasError = entries.some(({ error }) => error !== null);
    const text = `Files changed: ${formatFileChanges(entries)}`;
    const details = entries.flatMap(({ kind, relativePaths }) =>
      relativePaths.map((path) => `${kind} ${path}`),
    );
    draft.addNotice(envelope, hasError ? "warning" : "info", text, details.join("\n"));
  },
};
