import type { HttpResponse } from "../../platform/http-client.ts";

/** The service's id of a call, for its support. */
export function readRequestId({ headers }: Pick<HttpResponse, "headers">): string | undefined {
  return headers["x-amzn-requestid"];
}
