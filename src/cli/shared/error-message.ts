import { SpanlineError } from "../../domain/errors.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";

export interface ErrorMessageOptions {
  /** What to do about it. */
  readonly nextStep: (error: SpanlineError) => string | undefined;
  /** The flag behind an option of the code. */
  readonly findFlag: (path: string) => string | undefined;
}

/** What went wrong, on one line, and what to do about it on the next, where that is known. */
export function formatErrorMessage(
  error: unknown,
  { nextStep, findFlag: findFlagOf }: ErrorMessageOptions,
): string {
  if (!(error instanceof Error)) return toSingleLine(String(error));
  const id = "requestId" in error && typeof error.requestId === "string" ? error.requestId : "";
  const request = id === "" ? "" : ` (request ${toSingleLine(id)})`;
  const isOurs = error instanceof SpanlineError;
  const message = isOurs ? replaceOptionsByFlags(error, findFlagOf) : error.message;
  const next = isOurs ? nextStep(error) : undefined;
  return `${toSingleLine(message)}${request}${next === undefined ? "" : `\n${next}`}`;
}

/** Whoever wrote a flag does not know the option of the code that it became. */
function replaceOptionsByFlags(
  { message, details }: SpanlineError,
  findFlag: ErrorMessageOptions["findFlag"],
): string {
  const { path } = details;
  const flag = typeof path === "string" && message.startsWith(`${path} `) ? findFlag(path) : null;
  return typeof flag === "string" ? flag + message.slice(String(path).length) : message;
}
