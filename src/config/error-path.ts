import { SpanlineError } from "../domain/errors.ts";

/** Does what complains of options by their own names; what it throws says where they stand. */
export function withErrorPath<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw prefixErrorPath(path, error);
  }
}

/** A complaint with the place of what it is about: whoever reads it has several agents. */
export function prefixErrorPath(path: string, error: unknown): unknown {
  if (!(error instanceof SpanlineError)) return error;
  const { code, message, details } = error;
  const inner = typeof details["path"] === "string" ? details["path"] : "";
  // What knows its place says it.
  if (inner.startsWith(path)) return error;
  const fullPath = inner === "" ? path : `${path}.${inner}`;
  const errorOptions = { details: { ...details, path: fullPath }, cause: error };
  return new SpanlineError(code, `${path}: ${message}`, errorOptions);
}

/** Whoever reads it has to know which file it is about. */
export function addFileToError(error: unknown, file: string): unknown {
  if (!(error instanceof SpanlineError)) return error;
  const { code, message, details } = error;
  return new SpanlineError(code, `${file}: ${message}`, { details, cause: error });
}
