/** Why a file cannot be read, in words; undefined when the error is about something else. */
export function describeReadError(error: unknown, name: string): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return `Cannot read ${name}: there is no such file`;
  if (code === "EISDIR")
    return `Cannot read ${name}: it is a folder; name a file, or - for standard input`;
  return code === "EACCES" ? `Cannot read ${name}: permission denied` : undefined;
}
