import {
  ARTIFACT_TYPES,
  createSpecReference,
  encodeArtifact,
  MAX_INLINE_SPEC,
  type ArtifactRequest,
  type StoredArtifact,
} from "../../../domain/outputs/artifact.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { StoredEmission, ToolEmission } from "../../../domain/tools/tool-output.ts";
import { digestBytes } from "../../../platform/digest.ts";
import { findEmissionProblem, type EmissionRoom } from "../../tools/emission-limits.ts";

export interface EmissionStore {
  readonly putBlob: (blobId: string, bytes: Uint8Array) => Promise<void>;
  readonly readEmissionRoom: () => EmissionRoom;
}

interface ToolAttempt {
  readonly toolCallId: string;
  readonly attempt: number;
  readonly name: string;
}

/**
 * Stores the artifacts among the emissions of a tool. Ids contain the attempt: after a kill the next attempt may create
 * other bytes, and a blob never changes. Throws `quota_exceeded` if the session has no room. The session decides again at
 * the end of the tool call, because calls in parallel see the same room.
 */
export async function storeEmissions(
  emissions: readonly ToolEmission[],
  attempt: ToolAttempt,
  store: EmissionStore,
): Promise<readonly StoredEmission[]> {
  const problem = findEmissionProblem(store.readEmissionRoom(), emissions);
  if (problem !== undefined) throw new SpanlineError("quota_exceeded", problem);
  const stored: StoredEmission[] = [];
  for (const [at, emission] of emissions.entries()) {
    if (emission.type !== "artifact") stored.push(emission);
    else {
      const artifactId = createArtifactId(attempt, at);
      const artifact = await storeArtifact(emission.artifact, { artifactId, attempt, store });
      stored.push({ type: "artifact", artifact });
    }
  }
  return stored;
}

/** Id of the artifact which is emission number `at` of an attempt of a tool call. Also the id of its blob. */
function createArtifactId(
  { toolCallId, attempt }: Pick<ToolAttempt, "toolCallId" | "attempt">,
  at = 0,
): string {
  return `artifact_${toolCallId}_${attempt}${at === 0 ? "" : `_${at}`}`;
}

async function storeArtifact(
  request: ArtifactRequest,
  {
    artifactId,
    attempt,
    store,
  }: { readonly artifactId: string; readonly attempt: ToolAttempt; readonly store: EmissionStore },
): Promise<StoredArtifact> {
  const { name: tool, toolCallId } = attempt;
  const artifact = {
    artifactId,
    ...request,
    mimeType: ARTIFACT_TYPES[request.kind],
    provenance: { ...request.provenance, tool, toolCallId },
  };
  const bytes = encodeArtifact(artifact);
  await store.putBlob(artifactId, bytes);
  const isInline = artifact.sizeBytes <= MAX_INLINE_SPEC;
  const spec = isInline ? artifact.spec : createSpecReference(artifactId);
  return { ...artifact, spec, sha256: digestBytes(bytes) };
}
