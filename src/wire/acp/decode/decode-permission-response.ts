import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import {
  type ApprovalDecision,
  isApproving,
  DENYING_DECISIONS,
  APPROVING_DECISIONS,
} from "../../../domain/policy/approval-decision.ts";
import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import { maskCredentials } from "../encode/permissions/mask-credentials.ts";
import { containsPreview } from "../encode/permissions/argument-preview.ts";

export interface PermissionDecision {
  readonly decision: ApprovalDecision;
  /** The client put the question away because it ends the turn. */
  readonly endsTurn?: true;
  readonly reason?: string;
  /** What the tool is to run with instead. */
  readonly input?: JsonObject;
}

/**
 * The decision of a client's reply to a permission request.
 *
 * Every question has a plain yes and a plain no (`YES_TO`, `NO_TO`), so that a host decides each one with `granted` or a
 * bare `selected`. A reply that cannot be read, and an error, is the no.
 */
export function decodePermissionResponse(
  approval: ApprovalRequested,
  answer: RpcResponse,
): PermissionDecision {
  if (!answer.ok)
    return createDenial(approval, `The client answered with an error: ${answer.error.message}`);
  const { result } = answer;
  if (!isObject(result)) return createDenial(approval, UNREADABLE_RESPONSE);
  const { granted, outcome, error } = result;
  if (isPresent(error)) return createDenial(approval, "The client's answer contains an error");
  const isGranted = isPresent(granted) || !("outcome" in result);
  const byGrant = isGranted ? decodeGranted(approval, result) : undefined;
  if (!("outcome" in result)) return byGrant ?? createDenial(approval, UNREADABLE_RESPONSE);
  const byOutcome = decodeOutcome(approval, outcome);
  if (byGrant === undefined) return byOutcome;
  // A reply with both allows only what both allow.
  if (byGrant.decision === DENYING_DECISIONS[approval.question]) return byGrant;
  return isApproving(byOutcome.decision) ? { ...byGrant, ...byOutcome } : byOutcome;
}

/** Some hosts write null for a field that they leave out. */
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
      return { ...createDenial(approval, "The client put the question away"), endsTurn: true };
    default:
      return createDenial(approval, UNREADABLE_RESPONSE);
  }
}

/** A bare `selected` comes from hosts that know of one option only, which is to allow. */
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

/** The older shape: a plain yes or no, with edited arguments beside a yes. */
function decodeGranted(
  approval: ApprovalRequested,
  { granted, args, reason }: JsonObject,
): PermissionDecision {
  if (granted !== true) {
    const isDenial = granted === false;
    const why = isDenial ? "The client denied it" : UNREADABLE_RESPONSE;
    return createDenial(approval, isDenial && typeof reason === "string" ? reason : why);
  }
  const decision = APPROVING_DECISIONS[approval.question];
  if (!isPresent(args) || approval.question === "lost-invocation") return { decision };
  if (!isObject(args)) return createDenial(approval, "The client's arguments are not an object");
  return decodeEditedArguments(approval, args);
}

/** A mask stands for its credential. A preview cannot stand for what it leaves out. */
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

const UNREADABLE_RESPONSE = "The client's answer could not be read";
const UNKNOWN_MASK = "The edited arguments contain a mask that stands for no credential";
const UNKNOWN_MASK_FIX = "use a mask of the permission request, or write the value itself";
const HAS_PREVIEW =
  "The edited arguments contain a preview of arguments that were too long to send. Fetch the whole arguments, then edit them";
