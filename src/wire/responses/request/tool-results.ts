import type { SubmittedResult } from "../../../domain/session-command.ts";
import { formatCallId, findToolCallId } from "../response-ids.ts";
import { toResultPart } from "./to-history.ts";
import type { ToolResultInput } from "./input-item.ts";
import { createUnknownCallError } from "./new-input.ts";
import { createRequestError, createFieldError } from "./request-error.ts";

/** The calls that a session waits for. */
export interface OpenToolCalls {
  readonly sessionId: string;
  /** The session's ids of them. */
  readonly toolCallIds: readonly string[];
  /** Where the response begins that left them open. */
  readonly seq?: number;
}

/** The same ids as the caller knows them. */
export function listOpenCallIds({ sessionId, toolCallIds }: OpenToolCalls): ReadonlySet<string> {
  return new Set(toolCallIds.map((toolCallId) => formatCallId(sessionId, toolCallId)));
}

/** Results as a session takes them: of all open calls, each once, and of no others. */
export function toToolResults(
  results: readonly ToolResultInput[],
  { sessionId, toolCallIds }: OpenToolCalls,
): readonly SubmittedResult[] {
  const resultsById = new Map<string, SubmittedResult>();
  for (const result of results) {
    const { callId, parts, isError, path } = result;
    const toolCallId = findToolCallId(callId, sessionId, toolCallIds);
    if (toolCallId === null) throw createUnknownCallError(result);
    if (resultsById.has(toolCallId))
      throw createFieldError(
        `${path}.call_id`,
        "has a result already; send one",
        "duplicate_result",
      );
    resultsById.set(toolCallId, { toolCallId, parts: parts.map(toResultPart), isError });
  }
  const missingId = toolCallIds.find((toolCallId) => !resultsById.has(toolCallId));
  if (missingId !== undefined)
    throw createRequestError(
      `The call "${formatCallId(sessionId, missingId)}" has no result; send those of all open calls together`,
      { param: "input", code: "missing_result" },
    );
  return [...resultsById.values()];
}
