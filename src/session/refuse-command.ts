import type { ErrorCode, Failure } from "../domain/errors.ts";
import type { CommandReply } from "../domain/session-command.ts";

export function refuse(
  code: ErrorCode,
  message: string,
  details: Failure["details"] = {},
): CommandReply & { readonly status: "refused" } {
  return { status: "refused", failure: { code, message, details } };
}
