import { SpanlineError } from "./errors.ts";

/**
 * Converts a system error for a full disk or quota into a `store_full` error with the path. Returns undefined for any
 * other error.
 */
export function toDiskFullError(thrown: unknown): SpanlineError | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  if (thrown.code !== "ENOSPC" && thrown.code !== "EDQUOT") return undefined;
  const path = "path" in thrown && typeof thrown.path === "string" ? thrown.path : "A file";
  const message = `${path} cannot be written: the disk is full. Fix: free some space`;
  return new SpanlineError("store_full", message, { cause: thrown });
}
