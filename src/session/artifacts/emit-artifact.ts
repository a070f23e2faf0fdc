import type { StoredArtifact } from "../../domain/outputs/artifact.ts";
import type { Decision } from "../decision.ts";

/** Emits an artifact whose blob is stored. */
export function emitArtifact(decision: Decision, artifact: StoredArtifact): void {
  decision.emit({ type: "artifact.emitted", ...artifact });
}
