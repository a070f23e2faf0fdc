import { SpanlineError } from "../../domain/errors.ts";

/** Why a tool of the workspace did not do what it was asked; the message is for the model. */
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
  /** The path is no path, leads out of the workspace, or to what nobody may touch. */
  | "invalid"
  | "outside"
  | "protected"
  /** It leads elsewhere than when the call was judged. */
  | "moved"
  | "missing"
  /** A folder, a pipe, a device: nothing with a text in it. */
  | "not_a_file"
  | "not_a_folder"
  | "not_text"
  | "too_large"
  /** The file is not as the model believed. */
  | "changed"
  | "no_match"
  | "unclear"
  /** The system says no. */
  | "failed";
