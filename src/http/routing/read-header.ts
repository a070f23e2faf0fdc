import type { ServedRequest } from "../server/http-types.ts";

/** A header's value, repeated ones joined as HTTP joins them. The name in lower case. */
export function readHeader(
  { headers }: Pick<ServedRequest, "headers">,
  headerName: string,
): string | undefined {
  const values = headers.filter(([name]) => name === headerName).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(headerName === "cookie" ? "; " : ", ");
}
