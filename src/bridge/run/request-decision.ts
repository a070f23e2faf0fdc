import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import {
  isObject,
  toJsonText,
  parseJson,
  type JsonObject,
  type JsonValue,
} from "../../data/json.ts";
import { DENYING_DECISIONS } from "../../domain/policy/approval-decision.ts";
import { formatValue } from "../../text/format-value.ts";
import type { RunDecision, RunOptions } from "./run-options.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/**
 * Requests the caller's decision. An invalid or missing decision, or an error, denies: otherwise the run would wait
 * until the deadline.
 */
export async function requestDecision(
  request: ApprovalRequested,
  caller: Pick<RunOptions, "approve" | "report">,
): Promise<RunDecision> {
  const no = DENYING_DECISIONS[request.question];
  const { approvers = 1 } = request;
  if (approvers > 1) {
    return {
      decision: no,
      reason: `It needs ${approvers} different people, but a run has only one`,
    };
  }
  try {
    const reply: unknown = await caller.approve?.(request);
    return reply === undefined ? { decision: no } : parseDecision(reply, request);
  } catch (error) {
    caller.report?.(error);
    return { decision: no };
  }
}

function parseDecision(reply: unknown, { options, action }: ApprovalRequested): RunDecision {
  const answer = isObject(reply) ? reply : { decision: reply };
  const { decision: requestedDecision, reason, input, answer: text } = answer;
  const decision = options.find((option) => option === requestedDecision);
  if (decision === undefined) {
    const choices = options.join(", ");
    throw new TypeError(
      `${formatValue(requestedDecision)} is not a valid decision for "${action}": expected ${choices}`,
    );
  }
  if (reason !== undefined && typeof reason !== "string") {
    throw new TypeError(
      `The reason of the decision for "${action}" is ${formatValue(reason)}: expected a string`,
    );
  }
  return {
    decision,
    ...omitUndefined({ reason }),
    ...(input !== undefined && { input: parseInput(input, action) }),
    ...(text !== undefined && { answer: parseAnswer(text, action) }),
  };
}

/** Converts the answer to JSON, the form in the log. */
function parseAnswer(answer: unknown, action: string): JsonValue {
  const parsed = parseJson(toJsonText(answer));
  if (parsed.ok) return parsed.value;
  throw new TypeError(
    `The answer to "${action}" is ${formatValue(answer)}: expected a value with a JSON form`,
  );
}

/** Converts the input to JSON, the form in the log. */
function parseInput(input: unknown, action: string): JsonObject {
  const parsed = parseJson(toJsonText(input));
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  throw new TypeError(
    `The input of the decision for "${action}" is ${formatValue(input)}: expected an object`,
  );
}
