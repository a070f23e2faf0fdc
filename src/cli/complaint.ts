import { SpanlineError } from "../domain/errors.ts";
import { oneLine } from "../inspect/style.ts";

/** What went wrong, on one line, and what to do about it on the next, where that is known. */
export function complaint(
  error: unknown,
  nextStep: (error: SpanlineError) => string | undefined,
): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  const id = "requestId" in error && typeof error.requestId === "string" ? error.requestId : "";
  const request = id === "" ? "" : ` (request ${oneLine(id)})`;
  const next = error instanceof SpanlineError ? nextStep(error) : undefined;
  return `${oneLine(error.message)}${request}${next === undefined ? "" : `\n${next}`}`;
}
