import { SpanlineError } from "../domain/errors.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import type { OpenOptions } from "./sessions.ts";
import { countJsonBytes } from "./turn/check-prompt.ts";

const MAX_MESSAGES = 2000;
const MAX_HISTORY_BYTES = 4 * 1024 * 1024;
const MAX_LABEL_LENGTH = 256;

/** Throws `invalid_option` if a session cannot start with these options. */
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

/** Returns why messages are too many or too large for a history. Undefined if they are acceptable. */
export function findHistoryProblem(history: readonly ModelMessage[]): string | undefined {
  if (history.length > MAX_MESSAGES) {
    return `A history has at most ${MAX_MESSAGES} messages. Fix: send only the last messages`;
  }
  if (countJsonBytes(history) > MAX_HISTORY_BYTES) {
    return `A history has at most ${MAX_HISTORY_BYTES} bytes. Fix: send fewer messages`;
  }
  return undefined;
}

/**
 * Returns the id of the first upstream session. A session id in the provider's format is reused, so an existing
 * upstream session of this id continues. Undefined with an imported history: the agent would otherwise have both
 * conversations.
 */
export function resolveUpstreamId(sessionId: string, { history }: OpenOptions): string | undefined {
  return history === undefined && UPSTREAM_ID.test(sessionId) ? sessionId : undefined;
}

const UPSTREAM_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{32,99}$/;

function createOptionError(message: string, path: string): SpanlineError {
  return new SpanlineError("invalid_option", message, { details: { path } });
}
