import type { Anomaly } from "./anomaly.ts";
import { type LogPosition } from "../../domain/events/log-position.ts";
import { formatResponseId } from "./response-ids.ts";
import type { OutputItem } from "./items/output-item.ts";
import type { RecordedRequest } from "./recorded-request.ts";
import type { IncompleteDetails, ResponseError } from "./response-status.ts";
import type { ResponseUsage } from "./response-usage.ts";

export type WireStatus =
  | "queued"
  | "in_progress"
  | "completed"
  | "incomplete"
  | "failed"
  | "cancelled";

/** The fields of a response that change while it runs. */
export interface ResponseProgress {
  /** Position of the first event, which determines the id. */
  readonly position: LogPosition;
  /** Milliseconds since 1970. `completedAt` is null while the response runs. */
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly status: WireStatus;
  readonly incompleteDetails: IncompleteDetails | null;
  readonly error: ResponseError | null;
  readonly output: readonly OutputItem[];
  readonly usage: ResponseUsage | null;
  readonly anomalies: readonly Anomaly[];
}

/** A response as sent in every body and lifecycle event: always with all keys. */
export interface ResponseObject {
  readonly id: string;
  readonly object: "response";
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly status: WireStatus;
  readonly incomplete_details: IncompleteDetails | null;
  readonly error: ResponseError | null;
  readonly output: readonly OutputItem[];
  readonly usage: ResponseUsage | null;
  readonly conversation: { readonly id: string };
  readonly session_id: string;
  /** A Spanline extension. Absent without anomalies. */
  readonly anomalies?: readonly Anomaly[];
  readonly [echoed: string]: unknown;
}

export function encodeResponseObject(
  recorded: RecordedRequest,
  facts: ResponseProgress,
): ResponseObject {
  const { position, createdAt, completedAt, status, output, usage } = facts;
  const created = toSeconds(createdAt);
  return {
    id: formatResponseId(position),
    object: "response",
    created_at: created,
    // The clock may be set back; a response never ends before its start.
    completed_at: completedAt === null ? null : Math.max(created, toSeconds(completedAt)),
    status,
    incomplete_details: facts.incompleteDetails,
    ...recorded.echo,
    output,
    error: facts.error,
    usage,
    conversation: { id: position.sessionId },
    session_id: position.sessionId,
    ...(facts.anomalies.length > 0 && { anomalies: facts.anomalies }),
  };
}

function toSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
