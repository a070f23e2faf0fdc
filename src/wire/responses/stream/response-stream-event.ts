import type { ApprovalResolved } from "../../../domain/events/approval-events.ts";
import type { ApprovalQuestion } from "../../../domain/policy/approval-decision.ts";
import type { OutputItem } from "../items/output-item.ts";
import type { OutputText } from "../items/response-item.ts";
import type { ResponseObject } from "../response-object.ts";

/** An approval requested while a response waits. The caller cannot decide the approval, but can see it. */
export interface PendingApproval {
  readonly id: string;
  readonly question: ApprovalQuestion;
  /** The tool, or the text of the question. */
  readonly action: string;
  /** The tool call in question. Null if the approval is about something else. */
  readonly call_id: string | null;
  /** Seconds since 1970. After this time the approval counts as denied. */
  readonly expires_at: number;
}

/** One event of a response stream with its sequence number. */
export type StreamEvent = StreamEventBody & { readonly sequence_number: number };

/** The supported events. The specification has further events for features which agents do not have. */
export type StreamEventBody =
  | { readonly type: LifecycleType; readonly response: ResponseObject }
  | ({ readonly type: "response.output_item.added"; readonly item: OpenItem } & OutputIndexField)
  | ({ readonly type: "response.output_item.done"; readonly item: OutputItem } & OutputIndexField)
  | ({
      readonly type: `response.content_part.${Edge}`;
      readonly part: OutputText;
    } & ContentIndexField)
  | ({ readonly type: "response.output_text.delta"; readonly delta: string } & LogprobsField)
  | ({ readonly type: "response.output_text.done"; readonly text: string } & LogprobsField)
  | ({
      readonly type: `response.reasoning_summary_part.${Edge}`;
      readonly part: { readonly type: "summary_text"; readonly text: string };
    } & SummaryIndexField)
  | ({
      readonly type: "response.reasoning_summary_text.delta";
      readonly delta: string;
    } & SummaryIndexField)
  | ({
      readonly type: "response.reasoning_summary_text.done";
      readonly text: string;
    } & SummaryIndexField)
  | ({ readonly type: `response.${ArgumentsKind}.delta`; readonly delta: string } & ItemFields)
  | ({ readonly type: `response.${ArgumentsKind}.done`; readonly arguments: string } & ItemFields)
  | ({ readonly type: `response.mcp_call.${"in_progress" | "completed" | "failed"}` } & ItemFields)
  | { readonly type: "error"; readonly error: ErrorPayload }
  | { readonly type: "spanline:approval.requested"; readonly approval: PendingApproval }
  | {
      readonly type: "spanline:approval.resolved";
      readonly approval_id: string;
      readonly decision: ApprovalResolved["decision"];
      readonly by: ApprovalResolved["resolvedBy"];
    };

/** An error in the format of the API. */
interface ErrorPayload {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

export type LifecycleType = `response.${
  | "created"
  | "queued"
  | "in_progress"
  | "completed"
  | "incomplete"
  | "failed"}`;

export type ArgumentsKind = "function_call_arguments" | "mcp_call_arguments";
type Edge = "added" | "done";

/** An item when announced: fields without a value yet have their zero value. */
export interface OpenItem {
  readonly id: string;
  readonly type: OutputItem["type"];
  readonly status: "in_progress";
  readonly [field: string]: unknown;
}

interface OutputIndexField {
  readonly output_index: number;
}

export interface ItemFields extends OutputIndexField {
  readonly item_id: string;
}

interface ContentIndexField extends ItemFields {
  readonly content_index: number;
}

interface LogprobsField extends ContentIndexField {
  readonly logprobs: readonly never[];
}

interface SummaryIndexField extends ItemFields {
  readonly summary_index: number;
}
