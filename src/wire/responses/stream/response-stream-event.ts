import type { ApprovalResolved } from "../../../domain/events/approval-events.ts";
import type { ApprovalQuestion } from "../../../domain/policy/approval-decision.ts";
import type { OutputItem } from "../items/output-item.ts";
import type { OutputText } from "../items/response-item.ts";
import type { ResponseObject } from "../response-object.ts";

/** Something that somebody is asked while a response waits. Whoever called cannot answer it, but can see it. */
export interface PendingApproval {
  readonly id: string;
  readonly question: ApprovalQuestion;
  /** The tool, or the question in words. */
  readonly action: string;
  /** The call that it is about; null where it is about none. */
  readonly call_id: string | null;
  /** When it counts as a no, in seconds since 1970. */
  readonly expires_at: number;
}

/** One event of a response's stream, with its number in it. */
export type StreamEvent = StreamEventBody & { readonly sequence_number: number };

/** The events that are sent; the specification has others, which nothing here gives cause for. */
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

/** An error as the API tells one. */
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

/** An item as it is announced: whatever is still to come has its zero value. */
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
