import { SpanlineError } from "../../domain/errors.ts";

/** An error of a workspace tool, with a message for the model. */
export function createRefusal(
  reason: RefusalReason,
  message: string,
  cause?: unknown,
): SpanlineError {
  return new SpanlineError("workspace_refused", message, { details: { reason }, cause });
}

export function isRefusal(error: unknown, reason: RefusalReason): boolean {
  return error instanceof SpanlineError && error.details["reason"] === reason;
}

export type RefusalReason =
  /** `invalid`, `outside`, `protected`: the path is malformed, outside the workspace, or reserved for Spanline. */
  | "invalid"
  | "outside"
  | "protected"
  /** The path leads to another location than at the policy evaluation. */
  | "moved"
  | "missing"
  /** A folder, a pipe or a device. */
  | "not_a_file"
  | "not_a_folder"
  | "not_text"
  | "too_large"
  /** The file has changed since the model read it. */
  | "changed"
  | "no_match"
  | "unclear"
  /** The system refused the operation. */
  | "failed";
