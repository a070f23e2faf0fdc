import { randomString } from "../../platform/random.ts";
import { readHeader } from "./read-header.ts";
import type { HeaderField } from "../server/http-types.ts";

/**
 * The client's `x-request-id` if safe for headers and logs (1 to 128 characters of letters, digits, `_.:-`), else a new
 * id.
 */
export function readRequestId(headers: readonly HeaderField[], newId: () => string): string {
  const clientRequestId = readHeader({ headers }, "x-request-id");
  return clientRequestId !== undefined && /^[\w.:-]{1,128}$/.test(clientRequestId)
    ? clientRequestId
    : newId();
}

export function createRequestId(): string {
  return `req_${randomString(24)}`;
}
