import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import type { Question } from "../../../domain/question.ts";
import type { SessionCommand } from "../../../domain/session-command.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import { ANSWER_FIELD } from "../encode/permissions/encode-question.ts";
import { parseChoiceId } from "../encode/permissions/encode-permission-request.ts";

type DecideFields = Pick<
  Extract<SessionCommand, { readonly type: "decide-approval" }>,
  "decision" | "answer" | "reason"
>;

export interface QuestionAnswer extends DecideFields {
  /** The client dismissed the permission request because it cancels the turn. */
  readonly endsTurn?: true;
}

/**
 * Decodes a client's response to a question: an elicitation or a permission request. Returns undefined for an error or
 * an unreadable response: neither is an answer, so the question stays open for others.
 */
export function decodeQuestionResponse(
  { form }: ApprovalRequested,
  response: RpcResponse,
): QuestionAnswer | undefined {
  if (!response.ok || form === undefined || !isObject(response.result)) return undefined;
  const { result } = response;
  if ("action" in result) return decodeElicitationResult(form, result);
  const { outcome, granted } = result;
  if (!isObject(outcome)) return undefined;
  // A host that denies without an option to decline dismisses the request; it does not cancel the turn.
  if (outcome["outcome"] === "cancelled" && granted === false) return undefined;
  return decodeSelection(form, outcome);
}

function decodeElicitationResult(
  { schema }: Question,
  { action, content }: JsonObject,
): QuestionAnswer | undefined {
  switch (action) {
    case "accept": {
      const fields: JsonObject = isObject(content) ? content : {};
      const answer: JsonValue | undefined = schema === undefined ? fields[ANSWER_FIELD] : fields;
      return answer === undefined ? undefined : { decision: "answer", answer };
    }
    case "decline":
      return { decision: "decline" };
    case "cancel":
      return { decision: "decline", reason: "The person dismissed the question" };
    default:
      return undefined;
  }
}

function decodeSelection(
  { choices }: Question,
  { outcome, optionId }: JsonObject,
): QuestionAnswer | undefined {
  if (outcome === "cancelled") return { decision: "decline", endsTurn: true };
  if (outcome !== "selected") return undefined;
  if (optionId === "decline") return { decision: "decline" };
  if (choices === undefined) return optionId === "answer" ? { decision: "answer" } : undefined;
  const answer = choices[parseChoiceId(optionId)];
  return answer === undefined ? undefined : { decision: "answer", answer };
}
