import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import {
  type ApprovalDecision,
  isApproving,
  isToolQuestion,
  DENYING_DECISIONS,
  APPROVING_DECISIONS,
} from "../../../domain/policy/approval-decision.ts";
import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import { maskCredentials } from "../encode/permissions/mask-credentials.ts";
import { containsPreview } from "../encode/permissions/argument-preview.ts";

export interface PermissionDecision {
  readonly decision: ApprovalDecision;
  /** The client dismissed the permission request because it cancels the turn. */
  readonly endsTurn?: true;
  readonly reason?: string;
  /** Edited arguments for the tool. Undefined if the arguments are unchanged. */
  readonly input?: JsonObject;
}

/**
 * Decodes a client's response to a permission request.
 *
 * Every question has an approving and a denying decision (`APPROVING_DECISIONS`, `DENYING_DECISIONS`), so a host can
 * decide any question with `granted` or with a bare `selected`. An error and an unreadable response count as the
 * denying decision.
 */
export function decodePermissionResponse(
  approval: ApprovalRequested,
  answer: RpcResponse,
): PermissionDecision {
  if (!answer.ok)
    return createDenial(approval, `The client responded with an error: ${answer.error.message}`);
  const { result } = answer;
  if (!isObject(result)) return createDenial(approval, UNREADABLE_RESPONSE);
  const { granted, outcome, error } = result;
  if (isPresent(error)) return createDenial(approval, "The client's response contains an error");
  const isGranted = isPresent(granted) || !("outcome" in result);
  const byGrant = isGranted ? decodeGranted(approval, result) : undefined;
  if (!("outcome" in result)) return byGrant ?? createDenial(approval, UNREADABLE_RESPONSE);
  const byOutcome = decodeOutcome(approval, outcome);
  if (byGrant === undefined) return byOutcome;
  // If a response has both forms, the tool call is allowed only if both forms allow it.
  if (byGrant.decision === DENYING_DECISIONS[approval.question]) return byGrant;
  return isApproving(byOutcome.decision) ? { ...byGrant, ...byOutcome } : byOutcome;
}

/** Some hosts send null for an omitted field. */
function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function decodeOutcome(
  approval: ApprovalRequested,
  reply: JsonValue | undefined,
): PermissionDecision {
  const outcome = isObject(reply) ? reply : {};
  switch (outcome["outcome"]) {
    case "selected":
      return decodeSelected(approval, outcome["optionId"]);
    case "cancelled":
      return {
        ...createDenial(approval, "The client cancelled the permission request"),
        endsTurn: true,
      };
    default:
      return createDenial(approval, UNREADABLE_RESPONSE);
  }
}

/** A missing `optionId` approves: some hosts know only the approving option. */
function decodeSelected(
  approval: ApprovalRequested,
  optionId: JsonValue | undefined,
): PermissionDecision {
  if (!isPresent(optionId)) return { decision: APPROVING_DECISIONS[approval.question] };
  const decision = approval.options.find((option) => option === optionId);
  return decision === undefined
    ? createDenial(approval, "The client chose an option that was not offered")
    : { decision };
}

/** Decodes the older form: `granted` as a boolean, with optional edited arguments. */
function decodeGranted(
  approval: ApprovalRequested,
  { granted, args, reason }: JsonObject,
): PermissionDecision {
  if (granted !== true) {
    const isDenial = granted === false;
    const why = isDenial ? "The client denied the request" : UNREADABLE_RESPONSE;
    return createDenial(approval, isDenial && typeof reason === "string" ? reason : why);
  }
  const decision = APPROVING_DECISIONS[approval.question];
  if (!isPresent(args) || !isToolQuestion(approval.question)) return { decision };
  if (!isObject(args)) return createDenial(approval, "The client's arguments are not an object");
  return decodeEditedArguments(approval, args);
}

/**
 * Decodes edited arguments. A mask is replaced by its credential. A preview is refused, because the omitted part cannot
 * be restored.
 */
function decodeEditedArguments(approval: ApprovalRequested, args: JsonObject): PermissionDecision {
  const original = approval.input ?? {};
  if (containsPreview(args, original)) return createDenial(approval, HAS_PREVIEW);
  const { unmask, findUnknownMask } = maskCredentials(original);
  const unknownMask = findUnknownMask(args);
  if (unknownMask !== undefined)
    return createDenial(approval, `${UNKNOWN_MASK}: ${unknownMask}. Fix: ${UNKNOWN_MASK_FIX}`);
  const input = unmask(args);
  const decision = APPROVING_DECISIONS[approval.question];
  return toJsonText(input) === toJsonText(original) ? { decision } : { decision, input };
}

function createDenial({ question }: ApprovalRequested, reason: string): PermissionDecision {
  return { decision: DENYING_DECISIONS[question], reason };
}

const UNREADABLE_RESPONSE = "The client's response could not be read";
const UNKNOWN_MASK = "The edited arguments contain a mask that stands for no credential";
const UNKNOWN_MASK_FIX = "use a mask of the permission request, or write the value itself";
const HAS_PREVIEW =
  "The edited arguments contain a preview of arguments that were too long to send. Fetch the whole arguments, then edit them";
