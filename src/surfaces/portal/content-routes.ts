import { toJsonText } from "../../data/json.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ImageType } from "../../domain/model/image-block.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { SECURITY_HEADERS } from "../../http/routing/json-response.ts";
import type { Route } from "../../http/routing/router.ts";
import { ConnectionReset } from "../../http/server/http-types.ts";
import type { Sessions } from "../../session/sessions.ts";
import { formatAttachment, SANDBOX_HEADERS } from "./download-headers.ts";
import { findLogGap, formatLogGap } from "./log-gap.ts";
import { authenticate } from "./portal-access.ts";
import type { PortalOptions } from "./portal-options.ts";
import { findSession, type SessionRecord } from "./session-resource.ts";

/** Routes to download the log of a session, and its images and whole tool outputs. */
export function createContentRoutes(options: PortalOptions): Route[] {
  const { sessions } = options;
  return [
    {
      method: "GET",
      path: "/api/sessions/:id/export",
      async handle(request, { id = "" }) {
        const record = await findSession(sessions, id, await authenticate(request, options));
        return {
          status: 200,
          headers: {
            ...SECURITY_HEADERS,
            ...SANDBOX_HEADERS,
            "content-type": "application/x-ndjson; charset=utf-8",
            "content-disposition": formatAttachment(`${record.sessionId}.jsonl`),
          },
          body: exportLog(sessions, record, request.disconnectSignal),
          pace: { clock: options.clock },
        };
      },
    },
    {
      method: "GET",
      path: "/api/sessions/:id/blobs/:blobId",
      async handle(request, { id = "", blobId = "" }) {
        const { sessionId } = await findSession(sessions, id, await authenticate(request, options));
        const base64 = await sessions.readBlob(sessionId, blobId);
        if (base64 === undefined) throw createUnknownBlobError();
        const bytes = Buffer.from(base64, "base64");
        const imageType = detectImageType(bytes);
        const headers = {
          ...SECURITY_HEADERS,
          ...SANDBOX_HEADERS,
          "content-type": imageType ?? "application/octet-stream",
          "content-disposition":
            imageType === undefined ? formatAttachment(`${blobId}.txt`) : "inline",
        };
        return { status: 200, headers, body: bytes };
      },
    },
  ];
}

/** Characters per piece. */
const PIECE_LENGTH = 64 * 1024;

/**
 * Streams the public events up to the end of the log at the time of the request, an envelope per line. A line with `gap`
 * takes the place of events which are missing or unreadable.
 */
async function* exportLog(
  sessions: Sessions,
  { sessionId, incarnation, seq: end }: SessionRecord,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let cursor: Cursor = { incarnation, seq: 0 };
  while (cursor.seq < end) {
    try {
      for await (const { events } of sessions.subscribe(sessionId, cursor, signal)) {
        let piece = "";
        for (const envelope of events) {
          if (envelope.seq > end || envelope.visibility === "internal") continue;
          piece += `${toJsonText(envelope)}\n`;
          if (piece.length < PIECE_LENGTH) continue;
          yield piece;
          piece = "";
        }
        if (piece !== "") yield piece;
        cursor = { incarnation, seq: events.at(-1)?.seq ?? cursor.seq };
        if (cursor.seq >= end) return;
      }
      // The sessions have closed. A response with an early end would look complete.
      throw new ConnectionReset();
    } catch (error) {
      if (error instanceof ConnectionReset) throw error;
      if (signal.aborted) return;
      const gap = findLogGap(error);
      yield formatProblem(error);
      if (gap === undefined) return;
      cursor = { incarnation, seq: gap.through };
    }
  }
}

/** The line for a gap, or for an error which ends the export. The status is already sent. */
function formatProblem(error: unknown): string {
  const gap = findLogGap(error);
  if (gap !== undefined) {
    const failure = { code: "store_damaged", message: formatLogGap(gap) };
    return `${toJsonText({ gap, error: failure })}\n`;
  }
  if (!(error instanceof SpanlineError)) throw error;
  const { code, message } = error;
  return `${toJsonText({ error: { code, message } })}\n`;
}

function createUnknownBlobError(): ApiError {
  return new ApiError(404, "not_found", "The session has no image or output with this id");
}

/** The type by the first bytes. The type named by the client which sent the image is not trusted. */
function detectImageType(bytes: Buffer): ImageType | undefined {
  const head = bytes.subarray(0, 12).toString("latin1");
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  if (/^RIFF.{4}WEBP$/s.test(head)) return "image/webp";
  return undefined;
}
