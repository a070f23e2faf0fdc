import { SpanlineError } from "../../domain/errors.ts";
import { formatValue } from "../../text/format-value.ts";

/** Stable codes for clients to branch on. */
export type RejectionCode =
  | "invalid_type"
  | "invalid_value"
  | "too_large"
  | "missing_required_parameter"
  | "unsupported_parameter"
  | "unsupported_content"
  | "unsupported_tool_choice"
  | "missing_user_message"
  | "no_new_message"
  | "empty_message"
  | "invalid_session_id"
  | "conflicting_session"
  | "unknown_call"
  | "duplicate_result"
  | "missing_result"
  | "credentials_not_accepted";

/** Refuses a request before any effect. `param` names the field as written by the client. */
export function rejectRequest(param: string, code: RejectionCode, message: string): never {
  throw new SpanlineError("invalid_message", message, { details: { param, code } });
}

export function rejectType(param: string, actual: unknown, expected: string): never {
  const code = actual === undefined ? "missing_required_parameter" : "invalid_type";
  return rejectRequest(param, code, `${param} is ${formatValue(actual)}: expected ${expected}`);
}
