import { readFile, stat } from "node:fs/promises";
import { parseDocument } from "yaml";
import { SpanlineError } from "../../domain/errors.ts";

/** What a file of YAML or JSON says, which is not checked yet. */
export async function readDocument(file: string): Promise<unknown> {
  const text = await textOf(file);
  // An alias can make a small file endlessly large.
  const document = parseDocument(text, { merge: false, prettyErrors: true, uniqueKeys: true });
  const [problem] = document.errors;
  // The line and column are in its first line; the rest is a picture of them.
  if (problem !== undefined)
    throw unusable(file, (problem.message.split("\n")[0] ?? "").replace(/:$/, ""));
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (cause) {
    throw unusable(file, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

async function textOf(file: string): Promise<string> {
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

const MOST_BYTES = 1_000_000;
const MOST_ALIASES = 100;

function unusable(file: string, reason: string, cause?: unknown): SpanlineError {
  const message = `Cannot use ${file}: ${reason}`;
  return new SpanlineError("invalid_option", message, { details: { path: file }, cause });
}
