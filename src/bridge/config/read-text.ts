import { readFile, stat } from "node:fs/promises";
import { SpanlineError } from "../../domain/errors.ts";

/** The text of a configuration or a policy. */
export async function readText(file: string): Promise<string> {
  try {
    const found = await stat(file);
    // Opening one that is none may wait for ever.
    if (!found.isFile()) throw unusable(file, "it is no file");
    const { size } = found;
    if (size > MOST_BYTES) throw unusable(file, `it has more than ${MOST_BYTES} bytes`);
    return await readFile(file, "utf8");
  } catch (cause) {
    if (cause instanceof SpanlineError) throw cause;
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    throw unusable(file, isMissing ? "there is no such file" : String(cause), cause);
  }
}

const MOST_BYTES = 256 * 1024;

export function unusable(file: string, reason: string, cause?: unknown): SpanlineError {
  const message = `Cannot use ${file}: ${reason}`;
  return new SpanlineError("invalid_option", message, { details: { path: file }, cause });
}
