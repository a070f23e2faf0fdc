import { createSpecReference } from "../../../domain/outputs/artifact.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { ArtifactEmitted } from "../../../domain/events/artifact-events.ts";
import { fitObject, fits, fitText, LINE_MARGIN } from "../fit-json.ts";
import { emitVendorUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";
import { encodeArtifact } from "./vendor-updates.ts";

/**
 * Emits an artifact. If the artifact does not fit into a line, the spec becomes a reference to the download and the
 * texts are shortened: a shortened spec would be another chart or table.
 */
export function encodeArtifactEmitted(
  state: UpdateState,
  artifact: ArtifactEmitted,
  emit: Emit<AcpOutput>,
): void {
  const bytes = state.lineBytes - LINE_MARGIN;
  if (fits(artifact, bytes)) return emitVendorUpdate(state, encodeArtifact(artifact), emit);
  const { artifactId, fallback, metadata, provenance } = artifact;
  const reference = createSpecReference(artifactId);
  const withReference = { ...artifact, spec: reference };
  if (fits(withReference, bytes))
    return emitVendorUpdate(state, encodeArtifact(withReference), emit);
  const fitted = {
    ...withReference,
    fallback: fitText(fallback, bytes / 2),
    metadata: fitObject(metadata, bytes / 8),
    provenance: fitObject(provenance, bytes / 8),
  };
  emitVendorUpdate(state, encodeArtifact(fitted), emit);
}
