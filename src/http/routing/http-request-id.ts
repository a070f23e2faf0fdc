import { randomString } from "../../platform/random.ts";
import { readHeader } from "./read-header.ts";
import type { HeaderField } from "../server/http-types.ts";

/** The client's own name for its request where that can go into headers and logs as it is, else a new one. */
export function readRequestId(headers: readonly HeaderField[], newId: () => string): string {
  const clientRequestId = readHeader({ headers }, "x-request-id");
  return clientRequestId !== undefined && /^[\w.:-]{1,128}$/.test(clientRequestId)
    ? clientRequestId
    : newId();
}

export function createRequestId(): string {
  return `req_${randomString(24)}`;
}
