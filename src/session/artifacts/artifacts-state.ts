import { measureArtifact, measureJson } from "../../domain/outputs/artifact.ts";
import type { ArtifactEvent } from "../../domain/events/artifact-events.ts";

/** Number and size of the session's artifacts, for its limits. The artifacts themselves are in the log and the blobs. */
export interface ArtifactsState {
  readonly count: number;
  /** Sum of the sizes of all artifacts and handoffs. */
  readonly bytes: number;
}

export const initialArtifacts: ArtifactsState = { count: 0, bytes: 0 };

export function evolveArtifacts(state: ArtifactsState, event: ArtifactEvent): ArtifactsState {
  const bytes =
    event.type === "artifact.emitted" ? measureArtifact(event) : measureJson(event.handoff);
  return { count: state.count + 1, bytes: state.bytes + bytes };
}
