import type { ApprovalRequested } from "../domain/agent-event.ts";
import { isObject, jsonText, parseJson, type JsonObject } from "../domain/json.ts";
import { NO_TO } from "../domain/answers.ts";
import { shown } from "../domain/shown.ts";
import type { RunAnswer, RunOptions } from "./run-options.ts";

/** What the caller decides; what it cannot, or may not, is a no: otherwise the run would wait for nothing. */
export async function answerFor(
  request: ApprovalRequested,
  caller: Pick<RunOptions, "approve" | "report">,
): Promise<RunAnswer> {
  const no = NO_TO[request.question];
  const { approvers = 1 } = request;
  if (approvers > 1) {
    return { decision: no, reason: `It needs ${approvers} different people, and a run has one` };
  }
  try {
    const given: unknown = await caller.approve?.(request);
    return given === undefined ? { decision: no } : answerIn(given, request);
  } catch (error) {
    caller.report?.(error);
    return { decision: no };
  }
}

function answerIn(given: unknown, { options, action }: ApprovalRequested): RunAnswer {
  const answer = isObject(given) ? given : { decision: given };
  const { decision: wanted, reason, input } = answer;
  const decision = options.find((option) => option === wanted);
  if (decision === undefined) {
    const choices = options.join(", ");
    throw new TypeError(`${shown(wanted)} is no answer to "${action}"; it takes ${choices}`);
  }
  if (reason !== undefined && typeof reason !== "string") {
    throw new TypeError(
      `The reason for the answer to "${action}" is ${shown(reason)}, wanted a string`,
    );
  }
  return {
    decision,
    ...(reason !== undefined && { reason }),
    ...(input !== undefined && { input: inputIn(input, action) }),
  };
}

/** As the log will have it. */
function inputIn(input: unknown, action: string): JsonObject {
  const parsed = parseJson(jsonText(input));
  if (parsed.ok && isObject(parsed.value)) return parsed.value;
  throw new TypeError(
    `The input in the answer to "${action}" is ${shown(input)}, wanted an object`,
  );
}
