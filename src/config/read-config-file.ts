import { readFile, stat } from "node:fs/promises";
import { SpanlineError } from "../domain/errors.ts";

/**
 * Reads the text of a configuration or a policy. Throws `invalid_option` if the file cannot be read or is too large.
 */
export async function readConfigFile(file: string): Promise<string> {
  try {
    const stats = await stat(file);
    // Opening a special file, such as a pipe, could block forever.
    if (!stats.isFile()) throw createUnusableFileError(file, "it is not a regular file");
    const { size } = stats;
    if (size > MAX_BYTES)
      throw createUnusableFileError(file, `it has more than ${MAX_BYTES} bytes`);
    return await readFile(file, "utf8");
  } catch (cause) {
    if (cause instanceof SpanlineError) throw cause;
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    throw createUnusableFileError(file, isMissing ? "no such file" : String(cause), cause);
  }
}

const MAX_BYTES = 256 * 1024;

export function createUnusableFileError(
  file: string,
  reason: string,
  cause?: unknown,
): SpanlineError {
  const message = `Cannot use ${file}: ${reason}`;
  return new SpanlineError("invalid_option", message, { details: { path: file }, cause });
}
