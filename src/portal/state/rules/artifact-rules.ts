import type { ArtifactEvent } from "../../../domain/events/artifact-events.ts";
import type { ViewRules } from "../view-rules.ts";

export const ARTIFACT_RULES: ViewRules<ArtifactEvent> = {
  "handoff.emitted": (draft, { handoffId, artifactId, handoff }, { seq, at }) =>
    draft.addItem({
      kind: "handoff",
      key: `handoff:${handoffId}`,
      at,
      seq,
      handoffId,
      artifactId,
      handoff,
    }),
};
