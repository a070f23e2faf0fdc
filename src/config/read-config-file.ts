import { readFile, stat } from "node:fs/promises";
import { SpanlineError } from "../domain/errors.ts";

/** The text of a configuration or a policy. */
export async function readConfigFile(file: string): Promise<string> {
  try {
    const stats = await stat(file);
    // Opening one that is none may wait for ever.
    if (!stats.isFile()) throw unusableFileError(file, "it is no file");
    const { size } = stats;
    if (size > MAX_BYTES) throw unusableFileError(file, `it has more than ${MAX_BYTES} bytes`);
    return await readFile(file, "utf8");
  } catch (cause) {
    if (cause instanceof SpanlineError) throw cause;
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    throw unusableFileError(file, isMissing ? "there is no such file" : String(cause), cause);
  }
}

const MAX_BYTES = 256 * 1024;

export function unusableFileError(file: string, reason: string, cause?: unknown): SpanlineError {
  const message = `Cannot use ${file}: ${reason}`;
  return new SpanlineError("invalid_option", message, { details: { path: file }, cause });
}
