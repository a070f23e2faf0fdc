import { SpanlineError } from "../domain/errors.ts";
import { oneLine } from "../inspect/style.ts";

export interface ComplaintWords {
  /** What to do about it. */
  readonly nextStep: (error: SpanlineError) => string | undefined;
  /** The flag behind an option of the code. */
  readonly flagFor: (path: string) => string | undefined;
}

/** What went wrong, on one line, and what to do about it on the next, where that is known. */
export function complaint(error: unknown, { nextStep, flagFor }: ComplaintWords): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  const id = "requestId" in error && typeof error.requestId === "string" ? error.requestId : "";
  const request = id === "" ? "" : ` (request ${oneLine(id)})`;
  const isOurs = error instanceof SpanlineError;
  const message = isOurs ? inFlags(error, flagFor) : error.message;
  const next = isOurs ? nextStep(error) : undefined;
  return `${oneLine(message)}${request}${next === undefined ? "" : `\n${next}`}`;
}

/** Whoever wrote a flag does not know the option of the code that it became. */
function inFlags({ message, details }: SpanlineError, flagFor: ComplaintWords["flagFor"]): string {
  const { path } = details;
  const flag = typeof path === "string" && message.startsWith(`${path} `) ? flagFor(path) : null;
  return typeof flag === "string" ? flag + message.slice(String(path).length) : message;
}
