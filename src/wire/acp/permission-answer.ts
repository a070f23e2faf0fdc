import type { ApprovalRequested, Decision } from "../../domain/agent-event.ts";
import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { isYes, NO_TO } from "../../domain/answers.ts";
import type { RpcAnswer } from "../jsonrpc/rpc-message.ts";

export interface PermissionAnswer {
  readonly decision: Decision;
  /** The client put the question away because it ends the turn. */
  readonly endsTurn?: true;
  readonly reason?: string;
  /** What the tool is to run with instead. */
  readonly input?: JsonObject;
}

/**
 * What a client's answer to a permission request decides.
 *
 * Whatever cannot be read as a choice of what was offered is no approval. It denies; of a tool whose outcome is not
 * known it says nothing, since "failed" would be a guess: undefined, and the question stays open.
 */
export function permissionAnswer(
  asked: ApprovalRequested,
  answer: RpcAnswer,
): PermissionAnswer | undefined {
  if (!answer.ok)
    return declined(asked, `The client answered with an error: ${answer.error.message}`);
  const { result } = answer;
  if (!isObject(result)) return declined(asked, UNREADABLE);
  const granted = typeof result["granted"] === "boolean" ? grantedAnswer(asked, result) : undefined;
  if (!("outcome" in result)) return granted ?? declined(asked, UNREADABLE);
  const chosen = outcomeAnswer(asked, result["outcome"]);
  if (typeof result["granted"] !== "boolean") return chosen;
  // Where both are said, what runs is what both allow.
  if (granted === undefined || !isYes(granted.decision)) return granted;
  return chosen === undefined || !isYes(chosen.decision) ? chosen : { ...granted, ...chosen };
}

function outcomeAnswer(
  asked: ApprovalRequested,
  given: JsonValue | undefined,
): PermissionAnswer | undefined {
  const outcome = isObject(given) ? given : {};
  switch (outcome["outcome"]) {
    case "selected":
      return selectedAnswer(asked, outcome["optionId"]);
    case "cancelled": {
      const answered = declined(asked, "The client put the question away");
      return answered === undefined ? undefined : { ...answered, endsTurn: true };
    }
    default:
      return declined(asked, UNREADABLE);
  }
}

/** A bare `selected` comes from hosts that know of one option only, which is to run the tool. */
function selectedAnswer(
  asked: ApprovalRequested,
  optionId: JsonValue | undefined,
): PermissionAnswer | undefined {
  if (optionId === undefined && asked.question === "run") return { decision: "allow" };
  const decision = asked.options.find((option) => option === optionId);
  return decision === undefined
    ? declined(asked, "The client chose an option that was not offered")
    : { decision };
}

/** The older shape: a plain yes or no, with other arguments beside a yes. */
function grantedAnswer(
  asked: ApprovalRequested,
  { granted, args, reason }: JsonObject,
): PermissionAnswer | undefined {
  if (granted !== true || asked.question !== "run") {
    return declined(asked, typeof reason === "string" ? reason : "The client denied it");
  }
  if (args === undefined) return { decision: "allow" };
  return isObject(args)
    ? { decision: "allow", input: args }
    : declined(asked, "The client's arguments are not an object");
}

function declined({ question }: ApprovalRequested, reason: string): PermissionAnswer | undefined {
  return question === "outcome" ? undefined : { decision: NO_TO[question], reason };
}

const UNREADABLE = "The client's answer could not be read";
