import type { ServedRequest } from "../server/http-types.ts";

/**
 * Reads a header, which must be named in lowercase. Duplicates are joined by a comma (`cookie`: by a semicolon), as in
 * RFC 9110. Undefined if absent.
 */
export function readHeader(
  { headers }: Pick<ServedRequest, "headers">,
  headerName: string,
): string | undefined {
  const values = headers.filter(([name]) => name === headerName).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(headerName === "cookie" ? "; " : ", ");
}
