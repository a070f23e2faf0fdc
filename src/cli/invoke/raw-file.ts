import { closeSync, fstatSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { SpanlineError } from "../../domain/errors.ts";

export interface RawFile {
  readonly write: (chunk: Uint8Array) => void;
  close(): void;
}

/** The bytes of the answer as they come: what is there when the process dies is there. */
export function openRawFile(path: string): RawFile {
  const file = openForWriting(path);
  let isEmptied = false;
  return {
    write(chunk) {
      // Not before there is something to keep: what was kept there until now may be wanted.
      if (!isEmptied && fstatSync(file).isFile()) ftruncateSync(file);
      isEmptied = true;
      for (let at = 0; at < chunk.length;) at += writeSync(file, chunk, at);
    },
    close: () => closeSync(file),
  };
}

/** Opened before the call is made: an answer that cannot be kept is not asked for. */
function openForWriting(path: string): number {
  try {
    return openSync(path, "a");
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const reason = code === "ENOENT" ? "there is no such folder" : String(code);
    throw new SpanlineError("invalid_option", `Cannot write ${path}: ${reason}`, { cause });
  }
}
