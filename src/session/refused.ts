import type { ErrorCode } from "../domain/errors.ts";
import type { CommandReply } from "../domain/session-command.ts";

export function refused(code: ErrorCode, message: string): CommandReply {
  return { status: "refused", failure: { code, message, details: {} } };
}
