/** The system's word for what went wrong, such as `ENOENT`; empty where it has none. */
export function readErrorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
