import { SpanlineError } from "../../domain/errors.ts";
import { shown } from "../../domain/shown.ts";

/** What a client can branch on when its request cannot be served. */
export type RefusalCode =
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

/** Refuses a request before anything is done. `param` names the field as the client wrote it. */
export function refuse(param: string, code: RefusalCode, message: string): never {
  throw new SpanlineError("invalid_message", message, { details: { param, code } });
}

export function refuseType(param: string, found: unknown, wanted: string): never {
  const code = found === undefined ? "missing_required_parameter" : "invalid_type";
  return refuse(param, code, `${param} is ${shown(found)}, wanted ${wanted}`);
}
