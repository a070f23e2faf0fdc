import { SpanlineError } from "../../domain/errors.ts";

/** Does what complains of options by their own names; what it throws says where they stand. */
export function under<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw placedAt(path, error);
  }
}

/** A complaint with the whole path of what it is about: whoever reads it has several agents. */
export function placedAt(path: string, error: unknown): unknown {
  if (!(error instanceof SpanlineError)) return error;
  const { code, message, details } = error;
  const inner = typeof details["path"] === "string" ? details["path"] : "";
  if (inner.startsWith("agents.")) return error;
  const whole = inner === "" ? path : `${path}.${inner}`;
  const begins = [`${inner} `, `${inner}:`, `There is no option ${inner};`];
  const text = begins.some((beginning) => message.startsWith(beginning))
    ? message.replace(inner, () => whole)
    : `${whole}: ${message}`;
  return new SpanlineError(code, text, { details: { ...details, path: whole }, cause: error });
}
