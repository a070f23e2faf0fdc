/** The system's error code, such as `ENOENT`. Empty if the error has none. */
export function readErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
