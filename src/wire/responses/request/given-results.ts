import type { GivenResult } from "../../../domain/session-command.ts";
import { callIdOf, callNamed } from "../ids.ts";
import { resultPart } from "./history.ts";
import type { ResultInput } from "./input-item.ts";
import { unknownCall } from "./new-input.ts";
import { refusal, wrongField } from "./refusal.ts";

/** The calls that a session waits for. */
export interface OpenCalls {
  readonly sessionId: string;
  /** The session's ids of them. */
  readonly toolCallIds: readonly string[];
  /** Where the response begins that left them open. */
  readonly seq?: number;
}

/** The same ids as the caller knows them. */
export function openCallIds({ sessionId, toolCallIds }: OpenCalls): ReadonlySet<string> {
  return new Set(toolCallIds.map((toolCallId) => callIdOf(sessionId, toolCallId)));
}

/** Results as a session takes them: of all open calls, each once, and of no others. */
export function givenResultsOf(
  results: readonly ResultInput[],
  { sessionId, toolCallIds }: OpenCalls,
): readonly GivenResult[] {
  const given = new Map<string, GivenResult>();
  for (const result of results) {
    const { callId, parts, isError, path } = result;
    const toolCallId = callNamed(callId, sessionId, toolCallIds);
    if (toolCallId === null) throw unknownCall(result);
    if (given.has(toolCallId))
      throw wrongField(`${path}.call_id`, "has a result already; send one", "duplicate_result");
    given.set(toolCallId, { toolCallId, parts: parts.map(resultPart), isError });
  }
  const left = toolCallIds.find((toolCallId) => !given.has(toolCallId));
  if (left !== undefined)
    throw refusal(
      `The call "${callIdOf(sessionId, left)}" has no result; send those of all open calls together`,
      { param: "input", code: "missing_result" },
    );
  return [...given.values()];
}
