import type { ArtifactEvent } from "../../../domain/events/artifact-events.ts";
import type { ViewRules } from "../view-rules.ts";

export const ARTIFACT_RULES: ViewRules<ArtifactEvent> = {
  "artifact.emitted": (draft, artifact, { seq, at }) => {
    const key = `artifact:${artifact.artifactId}`;
    if (draft.findItem("artifact", key) === undefined) draft.view.artifactCount += 1;
    draft.addItem({ kind: "artifact", key, at, seq, artifact });
  },
  "handoff.emitted": (draft, { handoffId, artifactId, handoff }, { seq, at }) => {
    const key = `handoff:${handoffId}`;
    if (draft.findItem("handoff", key) === undefined) draft.view.artifactCount += 1;
    draft.addItem({ kind: "handoff", key, at, seq, handoffId, artifactId, handoff });
  },
};
