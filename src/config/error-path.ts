import { SpanlineError } from "../domain/errors.ts";

/** Runs `work` and prefixes the option path to any error it throws. */
export function withErrorPath<Value>(path: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw prefixErrorPath(path, error);
  }
}

/** Prefixes an error with the path of its option, since a configuration may have several agents. */
export function prefixErrorPath(path: string, error: unknown): unknown {
  if (!(error instanceof SpanlineError)) return error;
  const { code, message, details } = error;
  const inner = typeof details["path"] === "string" ? details["path"] : "";
  // The error already contains the full path.
  if (inner.startsWith(path)) return error;
  const fullPath = inner === "" ? path : `${path}.${inner}`;
  const errorOptions = { details: { ...details, path: fullPath }, cause: error };
  return new SpanlineError(code, `${path}: ${message}`, errorOptions);
}

/** Prefixes an error with the name of the configuration file. */
export function addFileToError(error: unknown, file: string): unknown {
  if (!(error instanceof SpanlineError)) return error;
  const { code, message, details } = error;
  return new SpanlineError(code, `${file}: ${message}`, { details, cause: error });
}

/** Runs `read` and prefixes any error with the file. */
export function withErrorFile<Value>(file: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw addFileToError(error, file);
  }
}
