import { SpanlineError } from "../../domain/errors.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";

export interface ErrorMessageOptions {
  /** Returns the "Fix: …" line for an error. Undefined without advice. */
  readonly nextStep: (error: SpanlineError) => string | undefined;
  /** Returns the flag for an option path of the code; undefined if the option did not come from a flag. */
  readonly findFlag: (path: string) => string | undefined;
}

/** Formats an error as one line. A second line says how to fix the error, if known. */
export function formatErrorMessage(
  error: unknown,
  { nextStep, findFlag: findFlagOf }: ErrorMessageOptions,
): string {
  if (!(error instanceof Error)) return toSingleLine(String(error));
  const id = "requestId" in error && typeof error.requestId === "string" ? error.requestId : "";
  const request = id === "" ? "" : ` (request ${toSingleLine(id)})`;
  const isOurs = error instanceof SpanlineError;
  const message = isOurs ? replaceOptionsByFlags(error, findFlagOf) : error.message;
  // Advice in the message is more specific than advice for its code.
  const hasAdvice = message.includes("Fix: ");
  const next = isOurs && !hasAdvice ? nextStep(error) : undefined;
  return `${toSingleLine(message)}${request}${next === undefined ? "" : `\n${next}`}`;
}

/**
 * Users know the flag, not the option of the code, so a message that starts with the option's path starts with the flag
 * instead.
 */
function replaceOptionsByFlags(
  { message, details }: SpanlineError,
  findFlag: ErrorMessageOptions["findFlag"],
): string {
  const { path } = details;
  const flag = typeof path === "string" && message.startsWith(`${path} `) ? findFlag(path) : null;
  return typeof flag === "string" ? flag + message.slice(String(path).length) : message;
}
