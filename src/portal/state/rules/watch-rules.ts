import { silent } from "../../../domain/event-rules.ts";
import type { WatchEvent } from "../../../domain/events/watch-events.ts";
import type { ViewRules } from "../view-rules.ts";

export const WATCH_RULES: ViewRules<WatchEvent> = {
  "watch.added": (draft, { paths, globs }, envelope) => {
    const places = paths.map((path) => (path === "." ? "the whole workspace" : path)).join(", ");
    const filter = globs.length === 0 ? "" : ` (only ${globs.join(", ")})`;
    draft.addNotice(envelope, "info", `Files are watched: ${places}${filter}`);
  },
  "watch.removed": silent("the changes of files end"),
  "files.changed": (draft, { entries }, { at, seq }) =>
    draft.addItem({ kind: "files", key: `files:${seq}`, at, seq, entries }),
};
