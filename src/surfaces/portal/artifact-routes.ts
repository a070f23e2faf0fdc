import { toJsonText } from "../../data/json.ts";
import {
  createJsonFile,
  readArtifactFile,
  type ArtifactFile,
} from "../../domain/outputs/artifact.ts";
import type { Cursor, Envelope } from "../../domain/events/envelope.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { createJsonResponse, SECURITY_HEADERS } from "../../http/routing/json-response.ts";
import type { Route } from "../../http/routing/router.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import type { Sessions } from "../../session/sessions.ts";
import { formatAttachment, SANDBOX_HEADERS } from "./download-headers.ts";
import { authenticate } from "./portal-access.ts";
import type { PortalOptions } from "./portal-options.ts";
import { findSession, type SessionRecord } from "./session-resource.ts";

/** Routes to list and to download the artifacts and handoffs of a session. */
export function createArtifactRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  return [
    {
      method: "GET",
      path: "/api/sessions/:id/artifacts",
      async handle(request, { id = "" }) {
        const record = await findSession(sessions, id, await authenticate(request, options));
        return createJsonResponse(200, await listArtifacts(sessions, record, request));
      },
    },
    {
      method: "GET",
      path: "/api/sessions/:id/artifacts/:artifactId",
      async handle(request, { id = "", artifactId = "" }) {
        const record = await findSession(sessions, id, await authenticate(request, options));
        const { disconnectSignal } = request;
        const file =
          (await readStoredFile(sessions, record.sessionId, artifactId)) ??
          (await findHandoffFile(sessions, record, { artifactId, signal: disconnectSignal }));
        if (file === undefined)
          throw new ApiError(404, "not_found", "The session has no artifact with this id", {
            hint: `GET /api/sessions/${record.sessionId}/artifacts lists the artifacts`,
          });
        return {
          status: 200,
          headers: {
            ...SECURITY_HEADERS,
            ...SANDBOX_HEADERS,
            "content-type": `${file.contentType}; charset=utf-8`,
            "content-disposition": formatAttachment(file.name),
          },
          body: Buffer.from(file.text),
        };
      },
    },
  ];
}

async function readStoredFile(
  sessions: Sessions,
  sessionId: string,
  artifactId: string,
): Promise<ArtifactFile | undefined> {
  // Other blobs, such as the output of a tool, may have any content.
  if (!artifactId.startsWith("artifact_")) return undefined;
  const base64 = await sessions.readBlob(sessionId, artifactId);
  return base64 === undefined
    ? undefined
    : readArtifactFile(Buffer.from(base64, "base64"), artifactId);
}

/** A handoff has no blob: its event is the whole handoff. */
async function findHandoffFile(
  sessions: Sessions,
  record: SessionRecord,
  { artifactId, signal }: { readonly artifactId: string; readonly signal: AbortSignal },
): Promise<ArtifactFile | undefined> {
  if (!HANDOFF_ARTIFACT_ID.test(artifactId)) return undefined;
  for await (const { event } of readEvents(sessions, record, { after: 0, signal })) {
    if (event.type === "handoff.emitted" && event.artifactId === artifactId)
      return createJsonFile(artifactId, event.handoff);
  }
  return undefined;
}

/** Other ids are not searched for: a search reads the whole log. */
const HANDOFF_ARTIFACT_ID = /^artifact_[0-9a-z]{26}$/;

const PAGE_SIZE = 200;
/** Characters of a page, above which the page ends early. */
const PAGE_CHARACTERS = 1_000_000;

interface ArtifactPage {
  readonly artifacts: readonly object[];
  /** `after` of the next page. Null after the last page. */
  readonly next: number | null;
}

/** Lists the artifacts after the event `after`, without their specs. */
async function listArtifacts(
  sessions: Sessions,
  record: SessionRecord,
  { query, disconnectSignal: signal }: ServedRequest,
): Promise<ArtifactPage> {
  const after = readAfter(new URLSearchParams(query).get("after"));
  const artifacts: object[] = [];
  let characters = 0;
  for await (const envelope of readEvents(sessions, record, { after, signal })) {
    const entry = describeArtifact(envelope);
    if (entry === undefined) continue;
    artifacts.push(entry);
    characters += toJsonText(entry).length;
    if (artifacts.length === PAGE_SIZE || characters >= PAGE_CHARACTERS)
      return { artifacts, next: envelope.seq };
  }
  return { artifacts, next: null };
}

function readAfter(value: string | null): number {
  if (value === null) return 0;
  if (/^\d{1,15}$/.test(value)) return Number(value);
  throw new ApiError(400, "validation_failed", "after is not a position in the log", {
    hint: "use `next` of the previous page",
  });
}

function describeArtifact({ seq, at, event }: Envelope): object | undefined {
  switch (event.type) {
    case "artifact.emitted": {
      const { artifactId, kind, title, mimeType, sizeBytes, fallback, sha256 } = event;
      return { artifactId, kind, title, mimeType, sizeBytes, fallback, sha256, seq, at };
    }
    case "handoff.emitted": {
      const { artifactId, handoffId, handoff } = event;
      return { artifactId, kind: "handoff", title: handoff.task, handoffId, seq, at };
    }
    default:
      return undefined;
  }
}

/** Reads the public events up to the end of the log at the time of the request. */
async function* readEvents(
  sessions: Sessions,
  { sessionId, incarnation, seq: end }: SessionRecord,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): AsyncGenerator<Envelope> {
  if (after >= end) return;
  const cursor: Cursor = { incarnation, seq: after };
  for await (const { events } of sessions.subscribe(sessionId, cursor, signal)) {
    for (const envelope of events) {
      if (envelope.seq > end) return;
      if (envelope.visibility !== "internal") yield envelope;
      if (envelope.seq === end) return;
    }
  }
}
