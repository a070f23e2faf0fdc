import type { ServedRequest } from "./served.ts";

/** A header's value, repeated ones joined as HTTP joins them. The name in lower case. */
export function headerOf(
  { headers }: Pick<ServedRequest, "headers">,
  wanted: string,
): string | undefined {
  const values = headers.filter(([name]) => name === wanted).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(wanted === "cookie" ? "; " : ", ");
}
