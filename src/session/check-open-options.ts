import { SpanlineError } from "../domain/errors.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import type { OpenOptions } from "./sessions.ts";
import { countJsonBytes } from "./turn/check-prompt.ts";

const MAX_MESSAGES = 2000;
const MAX_HISTORY_BYTES = 4 * 1024 * 1024;
const MAX_LABEL_LENGTH = 256;

/** Refuses what no session can begin with. */
export function checkOpening({ history = [], label = "" }: OpenOptions): void {
  if (label.length > MAX_LABEL_LENGTH) {
    throw createOptionError(
      `A session's label has at most ${MAX_LABEL_LENGTH} characters`,
      "label",
    );
  }
  const problem = findHistoryProblem(history);
  if (problem !== undefined) throw createOptionError(problem, "history");
}

/** Undefined if a session can take these messages as its history. */
export function findHistoryProblem(history: readonly ModelMessage[]): string | undefined {
  if (history.length > MAX_MESSAGES) {
    return `A history has at most ${MAX_MESSAGES} messages; give the last of them`;
  }
  if (countJsonBytes(history) > MAX_HISTORY_BYTES) {
    return `A history has at most ${MAX_HISTORY_BYTES} bytes; give less of it`;
  }
  return undefined;
}

/**
 * Where the first conversation is to be on the provider's side: a session whose id a provider would take goes on with what
 * is there under it. One that brings a history begins another, since its agent would have both.
 */
export function resolveUpstreamId(sessionId: string, { history }: OpenOptions): string | undefined {
  return history === undefined && UPSTREAM_ID.test(sessionId) ? sessionId : undefined;
}

const UPSTREAM_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{32,99}$/;

function createOptionError(message: string, path: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path } });
}
