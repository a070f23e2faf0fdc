import type { Caller } from "../../../http/access/caller.ts";
import type { Cursor } from "../../../domain/events/envelope.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { toApiError } from "../../../http/routing/api-error.ts";
import type { Sessions } from "../../../session/sessions.ts";
import { formatCursor, parseCursor } from "../../../wire/live/cursor-text.ts";
import type { LiveEventEncoder } from "../../../wire/live/encode-live-frame.ts";
import type { LiveError, LiveRequest } from "../../../wire/live/live-frames.ts";
import { CURSOR_HINT } from "../error-body.ts";
import { findLogGap, formatLogGap } from "../log-gap.ts";
import { findSession } from "../session-resource.ts";
import type { LiveWriter } from "./live-writer.ts";

export interface StreamContext {
  readonly sessions: Sessions;
  readonly caller: Caller;
  readonly encoder: LiveEventEncoder;
  readonly writer: LiveWriter;
  readonly report: (error: unknown) => void;
}

export type SubscribeRequest = Extract<LiveRequest, { readonly type: "subscribe" }>;

/**
 * Sends the events of a session until the signal aborts. Returns `failed` after an `ended` frame, and `closed` if the
 * sessions of this process have closed.
 */
export async function streamSession(
  request: SubscribeRequest,
  context: StreamContext,
  signal: AbortSignal,
): Promise<"aborted" | "failed" | "closed"> {
  const { id } = request;
  try {
    await sendEvents(request, context, signal);
    return signal.aborted ? "aborted" : "closed";
  } catch (error) {
    if (signal.aborted) return "aborted";
    await context.writer.write({ type: "ended", id, error: toLiveError(error, context.report) });
    return "failed";
  }
}

async function sendEvents(
  { id, sessionId, cursor: cursorText }: SubscribeRequest,
  { sessions, caller, encoder, writer }: StreamContext,
  signal: AbortSignal,
): Promise<void> {
  const { incarnation, seq: end } = await findSession(sessions, sessionId, caller);
  // Always a cursor: another session under the same id, created since the check of the rights, is never read.
  let cursor: Cursor = parseCursor(cursorText ?? "") ?? { incarnation, seq: 0 };
  let isLive = false;
  const markLive = async (): Promise<void> => {
    isLive = true;
    await writer.write({ type: "live", id, cursor: formatCursor(cursor) });
  };
  if (cursor.incarnation === incarnation && cursor.seq === end) await markLive();
  for (;;) {
    try {
      for await (const batch of sessions.subscribe(sessionId, cursor, signal)) {
        for (const { text } of encoder.encode(id, batch)) await writer.writeText(text);
        cursor = { incarnation, seq: batch.events.at(-1)?.seq ?? cursor.seq };
        if (!isLive && cursor.seq >= end) await markLive();
      }
      return;
    } catch (error) {
      const gap = signal.aborted ? undefined : findLogGap(error);
      if (gap === undefined) throw error;
      cursor = { incarnation, seq: gap.through };
      const gapError = { code: "store_damaged", message: formatLogGap(gap) };
      await writer.write({ type: "gap", id, cursor: formatCursor(cursor), error: gapError });
      if (!isLive && cursor.seq >= end) await markLive();
    }
  }
}

/** Converts an error for the client. A bug is reported, and the client receives a general message. */
export function toLiveError(thrown: unknown, report: (error: unknown) => void): LiveError {
  const error = toApiError(thrown);
  if (error !== undefined) {
    const hint = error.hint ?? (error.status === 410 ? CURSOR_HINT : undefined);
    return { code: error.code, message: error.message, ...(hint !== undefined && { hint }) };
  }
  if (thrown instanceof SpanlineError) return { code: thrown.code, message: thrown.message };
  report(thrown);
  return { code: "service_failed", message: "The bridge failed; its log says why" };
}
