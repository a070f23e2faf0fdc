import type { Right } from "../../../domain/actor.ts";
import {
  APPROVING_DECISIONS,
  DENYING_DECISIONS,
  isCounted,
  type ApprovalDecision,
} from "../../../domain/policy/approval-decision.ts";
import { hasVoted } from "./describe-request.ts";
import type { OpenRequest, RequestDetails } from "./open-request.ts";

/** A button of a request. */
export interface RequestChoice {
  readonly decision: ApprovalDecision;
  readonly label: string;
  /** The extent of the decision, such as the label of the grant. */
  readonly scope?: string;
  readonly tone: "primary" | "neutral" | "danger";
  /** The key of the choice in the inbox. */
  readonly key?: string;
  /** The reason why the choice is disabled. */
  readonly disabledReason?: string;
}

/** The person in front of the page. */
export interface Decider {
  /** Null while the page is not connected. */
  readonly principal: string | null;
  readonly rights: readonly Right[];
  readonly isConnected: boolean;
  /** Milliseconds by which the server's clock is ahead of the browser's clock. Default: 0. */
  readonly timeOffset?: number;
}

/** Lists the decisions of a request in the order of its options. The answers of an open question are not included. */
export function listRequestChoices(open: OpenRequest, decider: Decider): readonly RequestChoice[] {
  const { request } = open;
  const blocked = findBlockReason(decider);
  const voted = hasVoted(open, decider.principal)
    ? "You have approved already; another person must approve"
    : undefined;
  return request.options
    .filter((decision) => decision !== "answer" || !needsAnswer(request))
    .map((decision) => {
      const disabledReason = blocked ?? (isCounted(decision) ? voted : undefined);
      return {
        ...createChoice(request, decision),
        ...(disabledReason !== undefined && { disabledReason }),
      };
    });
}

/** Returns why all decisions are disabled. Undefined if decisions are possible. */
export function findBlockReason({ rights, isConnected }: Decider): string | undefined {
  if (!isConnected) return "The portal is disconnected";
  return rights.includes("approve") ? undefined : "Your key does not have the right to approve";
}

/** Whether a request needs an entered answer. */
export function needsAnswer({ form }: RequestDetails): boolean {
  return form?.kind === "question";
}

/** Whether the arguments of a request can be edited. */
export function isEditable({ question, input }: RequestDetails): boolean {
  return question === "run" && input !== null;
}

function createChoice(request: RequestDetails, decision: ApprovalDecision): RequestChoice {
  const { question, grantLabel } = request;
  const key = findKey(request, decision);
  return {
    decision,
    label: nameDecision(request, decision),
    tone: resolveTone(request, decision),
    ...(key !== undefined && { key }),
    ...(decision === "allow-always" && { scope: grantLabel ?? request.action }),
    ...(question === "outcome" && decision === "run-again" && { scope: "repeats its effect" }),
  };
}

const LABELS: { readonly [One in ApprovalDecision]: string } = {
  allow: "Allow",
  "allow-always": "Always allow",
  deny: "Deny",
  done: "It succeeded",
  failed: "It failed",
  "run-again": "Run again",
  continue: "Continue",
  reseed: "Start over",
  stop: "Stop the turn",
  answer: "Approve",
  decline: "Decline",
};

/** Names a decision of this request, as on its button. */
export function nameDecision(
  { question, form }: RequestDetails,
  decision: ApprovalDecision,
): string {
  if (question === "outcome" && decision === "deny") return "Leave it unknown";
  if (decision === "answer" && form?.kind === "escalation") return "Accept";
  if (decision === "answer" && form?.kind === "question") return "Send answer";
  return LABELS[decision];
}

function resolveTone(
  { question }: RequestDetails,
  decision: ApprovalDecision,
): RequestChoice["tone"] {
  // No outcome of an interrupted tool is more likely than another, so none stands out.
  if (question === "outcome") return "neutral";
  if (decision === APPROVING_DECISIONS[question]) return "primary";
  return decision === DENYING_DECISIONS[question] ? "danger" : "neutral";
}

function findKey(request: RequestDetails, decision: ApprovalDecision): string | undefined {
  if (decision === "allow-always") return "A";
  if (decision === findApproval(request)) return "a";
  return decision === findDenial(request) ? "d" : undefined;
}

/**
 * The decision of a plain "yes" with the keyboard. Undefined for a request which needs an answer or the outcome of a
 * tool.
 */
export function findApproval(request: RequestDetails): ApprovalDecision | undefined {
  const { question, options } = request;
  if (question === "outcome" || needsAnswer(request)) return undefined;
  const decision = APPROVING_DECISIONS[question];
  return options.includes(decision) ? decision : undefined;
}

/** The decision of a plain "no". Undefined if the request has none. */
export function findDenial({ question, options }: RequestDetails): ApprovalDecision | undefined {
  const decision = DENYING_DECISIONS[question];
  return options.includes(decision) ? decision : undefined;
}
