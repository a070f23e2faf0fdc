import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import type { InboxVote } from "../../../wire/live/live-frames.ts";

/** An open request to a person. An inbox item and an approval of a session's view both have this form. */
export interface OpenRequest {
  readonly request: RequestDetails;
  readonly votes: readonly InboxVote[];
}

export type RequestDetails = Omit<ApprovalRequested, "signature">;

/** The category of a request, for filters and icons. */
export const REQUEST_KINDS = ["tool", "question", "interrupted", "lost", "budget"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];

const KINDS: { readonly [Question in RequestDetails["question"]]: RequestKind } = {
  run: "tool",
  outcome: "interrupted",
  "lost-invocation": "lost",
  budget: "budget",
  question: "question",
};

export function getRequestKind({ question }: RequestDetails): RequestKind {
  return KINDS[question];
}

/** Names of the categories in the filter. */
export const KIND_NAMES: { readonly [Kind in RequestKind]: string } = {
  tool: "Tool call",
  question: "Question",
  interrupted: "Interrupted tool",
  lost: "Lost response",
  budget: "Budget",
};

/** Names the kind of a request, more precisely than its category. */
export function nameRequest(request: RequestDetails): string {
  switch (request.form?.kind) {
    case "approval":
      return "Approval";
    case "dual_control":
      return "Dual control";
    case "escalation":
      return "Escalation";
    default:
      return KIND_NAMES[getRequestKind(request)];
  }
}

/** The whole command which a tool call runs. Undefined for other tools. */
export function getCommand({ decision, input }: RequestDetails): string | undefined {
  const command = decision?.context.command;
  if (command === undefined) return undefined;
  // The policy collapses whitespace. The approver must see the line breaks, which separate commands.
  const argument = input?.["command"] ?? input?.["script"];
  return typeof argument === "string" ? argument : command;
}
