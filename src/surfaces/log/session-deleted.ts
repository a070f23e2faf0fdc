import { SpanlineError } from "../../domain/errors.ts";

/** Whether reading failed because the session was deleted. */
export function isSessionDeleted(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "not_found";
}
