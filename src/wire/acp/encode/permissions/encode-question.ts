import type { JsonObject } from "../../../../data/json.ts";
import { omitUndefined } from "../../../../data/omit-undefined.ts";
import type {
  ApprovalRequested,
  ApprovalResolved,
} from "../../../../domain/events/approval-events.ts";
import type { Question, QuestionKind } from "../../../../domain/question.ts";
import { formatIsoTime } from "../../../../text/format-iso-time.ts";
import type { ClientProfile } from "../../decode/client-profile.ts";
import {
  encodeApprovalRequest,
  encodePermissionRequest,
  type ApprovalContext,
  type PermissionRequest,
} from "./encode-permission-request.ts";

/** A request to the client's person, or the notification of a request which is answered with another method. */
export interface EncodedRequest {
  readonly request?: PermissionRequest;
  readonly notification?: HitlNotification;
}

export interface HitlNotification {
  readonly method: "harn.hitl.requested";
  readonly params: object;
}

/** Returns true for requests other than the permission to run a tool. Bridge hosts receive them as `hitl_request`. */
export function isStandaloneRequest({ question }: ApprovalRequested): boolean {
  return question !== "run";
}

/** The kind of a request in the bridge protocol. */
export function resolveHitlKind({
  form,
  question,
  approvers = 1,
}: ApprovalRequested): QuestionKind {
  if (form !== undefined) return form.kind;
  if (question === "outcome" || question === "lost-invocation") return "question";
  return approvers > 1 ? "dual_control" : "approval";
}

/** The outcome of a request in the bridge protocol. */
export function resolveHitlOutcome({ resolvedBy }: ApprovalResolved) {
  return HITL_OUTCOMES[resolvedBy];
}

const HITL_OUTCOMES = {
  person: "answered",
  deadline: "timeout",
  cancel: "cancelled",
  change: "cancelled",
} as const satisfies { readonly [By in ApprovalResolved["resolvedBy"]]: string };

/**
 * Encodes a request for a client:
 *
 * - A permission to run a tool, and a decision after a crash: `session/request_permission`.
 * - A question of the agent: `elicitation/create` for clients with forms; for other stock clients
 *   `session/request_permission`, if the question has options. Otherwise nothing is sent, and the question waits for
 *   someone who can answer.
 * - Bridge hosts receive `harn.hitl.requested` about every request other than the permission to run a tool.
 */
export function encodeRequest(
  approval: ApprovalRequested,
  context: ApprovalContext,
  profile: ClientProfile,
): EncodedRequest {
  const notification =
    profile.isBridgeHost && isStandaloneRequest(approval)
      ? encodeHitlNotification(approval, context)
      : undefined;
  return omitUndefined({ request: selectRequest(approval, context, profile), notification });
}

function selectRequest(
  approval: ApprovalRequested,
  context: ApprovalContext,
  { isBridgeHost, showsForms }: ClientProfile,
): PermissionRequest | undefined {
  const { form } = approval;
  if (form === undefined) return encodePermissionRequest(approval, context);
  if (showsForms && form.kind === "question") return encodeElicitation(approval, form, context);
  const hasOptions = form.kind !== "question" || form.choices !== undefined;
  // A bridge host without forms answers with `harn.hitl.respond`.
  const hasCarrier = showsForms || !isBridgeHost;
  return hasOptions && hasCarrier ? encodePermissionRequest(approval, context) : undefined;
}

function encodeHitlNotification(
  approval: ApprovalRequested,
  context: ApprovalContext,
): HitlNotification {
  const { sessionId, at, turnId, agent } = context;
  const params = {
    sessionId,
    request_id: approval.approvalId,
    kind: resolveHitlKind(approval),
    agent: agent?.name ?? sessionId,
    run_id: turnId,
    requested_at: formatIsoTime(at),
    payload: encodeHitlPayload(approval, context),
  };
  return { method: "harn.hitl.requested", params };
}

/** Encodes the payload of a request: the question, and the same `ApprovalRequest` as in a permission request. */
export function encodeHitlPayload(
  approval: ApprovalRequested,
  context: ApprovalContext,
): { readonly [name: string]: unknown } {
  const { form, options } = approval;
  const { text, choices, schema, default: defaultAnswer } = form ?? {};
  return {
    ...omitUndefined({
      prompt: text,
      options: form === undefined ? options : choices,
      schema,
      default: defaultAnswer,
    }),
    approval_request: encodeApprovalRequest(approval, context),
  };
}

/** Encodes a question as ACP's elicitation in form mode. */
function encodeElicitation(
  { subjectId: toolCallId, approvalId }: ApprovalRequested,
  form: Question,
  { sessionId }: ApprovalContext,
): PermissionRequest {
  const params = {
    mode: "form",
    sessionId,
    toolCallId,
    message: form.text,
    requestedSchema: form.schema ?? createAnswerSchema(form),
    _meta: { harn: { requestId: approvalId } },
  };
  return { method: "elicitation/create", params };
}

/** The field of a form for a question without a schema. */
export const ANSWER_FIELD = "answer";

function createAnswerSchema({ choices, default: defaultAnswer }: Question): JsonObject {
  const field = {
    type: "string",
    title: "Answer",
    ...(choices === undefined ? { minLength: 1 } : { enum: choices }),
    ...omitUndefined({ default: defaultAnswer }),
  };
  return { type: "object", properties: { [ANSWER_FIELD]: field }, required: [ANSWER_FIELD] };
}
