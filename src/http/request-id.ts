import { randomText } from "../platform/random.ts";
import { headerOf } from "./header.ts";
import type { HeaderField } from "./served.ts";

/** The client's own name for its request where that can go into headers and logs as it is, else a new one. */
export function requestIdOf(headers: readonly HeaderField[], newId: () => string): string {
  const given = headerOf({ headers }, "x-request-id");
  return given !== undefined && /^[\w.:-]{1,128}$/.test(given) ? given : newId();
}

export function newRequestId(): string {
  return `req_${randomText(24)}`;
}
