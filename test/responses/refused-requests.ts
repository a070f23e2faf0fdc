import { SpanlineError, type ErrorCode } from "../../src/domain/errors.ts";

export interface Refused {
  readonly kind: ErrorCode;
  readonly param: unknown;
  readonly code: unknown;
}

/** Runs `read` and returns how the request is refused. Undefined if the request is accepted. */
export function refused(read: () => unknown): Refused | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (!(error instanceof SpanlineError)) throw error;
    const { param, code } = error.details;
    return { kind: error.code, param, code };
  }
}
