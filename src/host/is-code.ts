import { SpanlineError } from "../domain/errors.ts";

export function isCode(error: unknown, code: SpanlineError["code"]): boolean {
  return error instanceof SpanlineError && error.code === code;
}
