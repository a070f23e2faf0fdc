import type { ApprovalRequested, Decision } from "../../domain/agent-event.ts";
import { isObject, jsonText, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { isYes, NO_TO, YES_TO } from "../../domain/answers.ts";
import type { RpcAnswer } from "../jsonrpc/rpc-message.ts";
import { maskCredentials } from "./mask-credentials.ts";
import { containsPreview } from "./preview.ts";

export interface PermissionAnswer {
  readonly decision: Decision;
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
export function permissionAnswer(asked: ApprovalRequested, answer: RpcAnswer): PermissionAnswer {
  if (!answer.ok)
    return declined(asked, `The client answered with an error: ${answer.error.message}`);
  const { result } = answer;
  if (!isObject(result)) return declined(asked, UNREADABLE);
  const { granted, outcome, error } = result;
  if (isPresent(error)) return declined(asked, "The client's answer contains an error");
  const isGranted = isPresent(granted) || !("outcome" in result);
  const byGrant = isGranted ? grantedAnswer(asked, result) : undefined;
  if (!("outcome" in result)) return byGrant ?? declined(asked, UNREADABLE);
  const byOutcome = outcomeAnswer(asked, outcome);
  if (byGrant === undefined) return byOutcome;
  // A reply with both allows only what both allow.
  if (byGrant.decision === NO_TO[asked.question]) return byGrant;
  return isYes(byOutcome.decision) ? { ...byGrant, ...byOutcome } : byOutcome;
}

/** Some hosts write null for a field that they leave out. */
function isPresent(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null;
}

function outcomeAnswer(asked: ApprovalRequested, reply: JsonValue | undefined): PermissionAnswer {
  const outcome = isObject(reply) ? reply : {};
  switch (outcome["outcome"]) {
    case "selected":
      return selectedAnswer(asked, outcome["optionId"]);
    case "cancelled":
      return { ...declined(asked, "The client put the question away"), endsTurn: true };
    default:
      return declined(asked, UNREADABLE);
  }
}

/** A bare `selected` comes from hosts that know of one option only, which is to allow. */
function selectedAnswer(
  asked: ApprovalRequested,
  optionId: JsonValue | undefined,
): PermissionAnswer {
  if (!isPresent(optionId)) return { decision: YES_TO[asked.question] };
  const decision = asked.options.find((option) => option === optionId);
  return decision === undefined
    ? declined(asked, "The client chose an option that was not offered")
    : { decision };
}

/** The older shape: a plain yes or no, with edited arguments beside a yes. */
function grantedAnswer(
  asked: ApprovalRequested,
  { granted, args, reason }: JsonObject,
): PermissionAnswer {
  if (granted !== true) {
    const isDenial = granted === false;
    const why = isDenial ? "The client denied it" : UNREADABLE;
    return declined(asked, isDenial && typeof reason === "string" ? reason : why);
  }
  const decision = YES_TO[asked.question];
  if (!isPresent(args) || asked.question === "lost-call") return { decision };
  if (!isObject(args)) return declined(asked, "The client's arguments are not an object");
  return editedAnswer(asked, args);
}

/** A mask stands for its credential. A preview cannot stand for what it leaves out. */
function editedAnswer(asked: ApprovalRequested, args: JsonObject): PermissionAnswer {
  const original = asked.input ?? {};
  if (containsPreview(args, original)) return declined(asked, HAS_PREVIEW);
  const input = maskCredentials(original).unmask(args);
  const decision = YES_TO[asked.question];
  return jsonText(input) === jsonText(original) ? { decision } : { decision, input };
}

function declined({ question }: ApprovalRequested, reason: string): PermissionAnswer {
  return { decision: NO_TO[question], reason };
}

const UNREADABLE = "The client's answer could not be read";
const HAS_PREVIEW =
  "The edited arguments contain a preview of arguments that were too long to send. Fetch the whole arguments, then edit them";
