import { silent } from "../../../domain/event-rules.ts";
import type { TranscriptEvent } from "../../../domain/events/transcript-events.ts";
import { formatCompactionEnd } from "../../../domain/transcript/format-compaction.ts";
import { formatProjection } from "../../../domain/transcript/format-projection.ts";
import type { ViewRules } from "../view-rules.ts";

export const TRANSCRIPT_RULES: ViewRules<TranscriptEvent> = {
  "compaction.requested": silent("the compaction starts soon"),
  "compaction.started": (draft, { attempt }, envelope) => {
    if (attempt === 1) draft.addNotice(envelope, "info", "The conversation is being compacted");
  },
  "compaction.ended": (draft, event, envelope) =>
    draft.addNotice(
      envelope,
      event.outcome === "failed" ? "warning" : "info",
      formatCompactionEnd(event),
    ),
  "transcript.compacted": (draft, { receipt }, { at, seq }) =>
    draft.addItem({ kind: "compaction", key: `compaction:${seq}`, at, seq, receipt }),
  "transcript.projected": (draft, { projection }, envelope) =>
    draft.addNotice(envelope, "info", formatProjection(projection)),
};
