import type { SubmittedResult } from "../../../domain/session-command.ts";
import { formatCallId, findToolCallId } from "../response-ids.ts";
import { toResultPart } from "./to-history.ts";
import type { ToolResultInput } from "./input-item.ts";
import { createUnknownCallError } from "./new-input.ts";
import { createRequestError, createFieldError } from "./request-error.ts";

/** The tool calls a session waits for. */
export interface OpenToolCalls {
  readonly sessionId: string;
  /** The tool call ids of the session. */
  readonly toolCallIds: readonly string[];
  /** Sequence number of the response which left the tool calls open. */
  readonly seq?: number;
}

/** Returns the ids of the open tool calls as known to the caller. */
export function listOpenCallIds({ sessionId, toolCallIds }: OpenToolCalls): ReadonlySet<string> {
  return new Set(toolCallIds.map((toolCallId) => formatCallId(sessionId, toolCallId)));
}

/** Converts results for a session. Throws unless every open tool call has exactly one result. */
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
        "already has a result; send only one",
        "duplicate_result",
      );
    resultsById.set(toolCallId, { toolCallId, parts: parts.map(toResultPart), isError });
  }
  const missingId = toolCallIds.find((toolCallId) => !resultsById.has(toolCallId));
  if (missingId !== undefined)
    throw createRequestError(
      `The tool call "${formatCallId(sessionId, missingId)}" has no result; send the results of all open tool calls together`,
      { param: "input", code: "missing_result" },
    );
  return [...resultsById.values()];
}
