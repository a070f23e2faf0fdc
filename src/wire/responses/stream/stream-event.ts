import type { ApprovalResolved, Question } from "../../../domain/agent-event.ts";
import type { OutputItem } from "../output-item.ts";
import type { OutputText } from "../response-item.ts";
import type { ResponseObject } from "../response-object.ts";

/** Something that somebody is asked while a response waits. Whoever called cannot answer it, but can see it. */
export interface AwaitedApproval {
  readonly id: string;
  readonly question: Question;
  /** The tool, or the question in words. */
  readonly action: string;
  /** The call that it is about; null where it is about none. */
  readonly call_id: string | null;
  /** When it counts as a no, in seconds since 1970. */
  readonly expires_at: number;
}

/** One event of a response's stream, with its number in it. */
export type StreamEvent = StreamPiece & { readonly sequence_number: number };

/** The events that are sent; the specification has others, which nothing here gives cause for. */
export type StreamPiece =
  | { readonly type: LifecycleType; readonly response: ResponseObject }
  | ({ readonly type: "response.output_item.added"; readonly item: OpenItem } & AtIndex)
  | ({ readonly type: "response.output_item.done"; readonly item: OutputItem } & AtIndex)
  | ({ readonly type: `response.content_part.${Edge}`; readonly part: OutputText } & InContent)
  | ({ readonly type: "response.output_text.delta"; readonly delta: string } & InText)
  | ({ readonly type: "response.output_text.done"; readonly text: string } & InText)
  | ({
      readonly type: `response.reasoning_summary_part.${Edge}`;
      readonly part: { readonly type: "summary_text"; readonly text: string };
    } & InSummary)
  | ({ readonly type: "response.reasoning_summary_text.delta"; readonly delta: string } & InSummary)
  | ({ readonly type: "response.reasoning_summary_text.done"; readonly text: string } & InSummary)
  | ({ readonly type: `response.${Arguments}.delta`; readonly delta: string } & OfItem)
  | ({ readonly type: `response.${Arguments}.done`; readonly arguments: string } & OfItem)
  | ({ readonly type: `response.mcp_call.${"in_progress" | "completed" | "failed"}` } & OfItem)
  | { readonly type: "error"; readonly error: ErrorPayload }
  | { readonly type: "spanline:approval.requested"; readonly approval: AwaitedApproval }
  | {
      readonly type: "spanline:approval.resolved";
      readonly approval_id: string;
      readonly decision: ApprovalResolved["decision"];
      readonly by: ApprovalResolved["by"];
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

export type Arguments = "function_call_arguments" | "mcp_call_arguments";
type Edge = "added" | "done";

/** An item as it is announced: whatever is still to come has its zero value. */
export interface OpenItem {
  readonly id: string;
  readonly type: OutputItem["type"];
  readonly status: "in_progress";
  readonly [field: string]: unknown;
}

interface AtIndex {
  readonly output_index: number;
}

export interface OfItem extends AtIndex {
  readonly item_id: string;
}

interface InContent extends OfItem {
  readonly content_index: number;
}

interface InText extends InContent {
  readonly logprobs: readonly never[];
}

interface InSummary extends OfItem {
  readonly summary_index: number;
}
