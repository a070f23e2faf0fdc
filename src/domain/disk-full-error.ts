import { SpanlineError } from "./errors.ts";

/** The error of a system call that found the disk or the quota full, as a sentence with the path; undefined for any other. */
export function toDiskFullError(thrown: unknown): SpanlineError | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  if (thrown.code !== "ENOSPC" && thrown.code !== "EDQUOT") return undefined;
  const path = "path" in thrown && typeof thrown.path === "string" ? thrown.path : "A file";
  const message = `${path} cannot be written: the disk is full. Fix: free some space`;
  return new SpanlineError("store_full", message, { cause: thrown });
}
