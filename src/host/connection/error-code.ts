import { SpanlineError } from "../../domain/errors.ts";

export function hasErrorCode(error: unknown, code: SpanlineError["code"]): boolean {
  return error instanceof SpanlineError && error.code === code;
}
