/** Describes why a file cannot be read. Undefined if the error has another cause. */
export function describeReadError(error: unknown, name: string): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return `Cannot read ${name}: no such file`;
  if (code === "EISDIR")
    return `Cannot read ${name}: it is a folder. Fix: name a file, or - for standard input`;
  return code === "EACCES" ? `Cannot read ${name}: permission denied` : undefined;
}
