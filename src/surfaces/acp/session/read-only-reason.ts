import { SpanlineError, type ErrorCode, type Failure } from "../../../domain/errors.ts";

/** The reason why a session can only be read, or undefined for any other error. */
export function findReadOnlyReason(error: unknown): Failure | undefined {
  return error instanceof SpanlineError && READ_ONLY_CODES.has(error.code)
    ? error.toFailure()
    : undefined;
}

/** Codes of a log that is damaged or incomplete, or contains events of a newer version. */
const READ_ONLY_CODES: ReadonlySet<ErrorCode> = new Set(["store_damaged", "store_newer"] as const);
