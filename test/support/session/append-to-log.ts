import type { ArtifactEmitted } from "../../../src/domain/events/artifact-events.ts";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { Store } from "../../../src/store/store.ts";

/** Appends events to the log of a session which no process uses. */
export async function appendToLog(
  store: Store,
  sessionId: string,
  events: readonly SessionEvent[],
): Promise<void> {
  const { lease, head } = await store.acquire(sessionId, { owner: "past", now: 0, durationMs: 1 });
  const drafts = events.map((event) => ({ at: 0, visibility: "public", event }) as const);
  await store.append(lease, head.seq, { events: drafts, sync: false });
  await store.release(lease);
}

/** An artifact without a blob. `at`: a number for its id. */
export function createStoredArtifact(
  at: number,
  fields: Partial<ArtifactEmitted> = {},
): ArtifactEmitted {
  return {
    type: "artifact.emitted",
    artifactId: `artifact_past_${at}`,
    kind: "mermaid",
    spec: { code: "pie" },
    title: null,
    mimeType: "text/vnd.mermaid",
    fallback: "pie",
    sizeBytes: 14,
    provenance: {},
    metadata: {},
    sha256: "0".repeat(64),
    ...fields,
  };
}
