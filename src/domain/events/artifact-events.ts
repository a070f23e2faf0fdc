import type { StoredArtifact } from "../outputs/artifact.ts";
import type { Handoff } from "../outputs/handoff.ts";

/** Events of the slice `artifacts`: results of the agent for people and programs, beside its messages. */
export type ArtifactEvent = ArtifactEmitted | HandoffEmitted;

/**
 * The agent shows a result. The blob with the id `artifactId` has the whole artifact. `spec` is a reference
 * (`createSpecReference`) if the spec is large.
 */
export interface ArtifactEmitted extends StoredArtifact {
  readonly type: "artifact.emitted";
}

/** Work was handed over. The handoff can be downloaded as the artifact `artifactId`. */
export interface HandoffEmitted {
  readonly type: "handoff.emitted";
  readonly handoffId: string;
  readonly artifactId: string;
  readonly handoff: Handoff;
}
