import type { HttpAnswer } from "../../platform/http-client.ts";

/** The service's id of a call, for its support. */
export function requestIdOf({ headers }: Pick<HttpAnswer, "headers">): string | undefined {
  return headers["x-amzn-requestid"];
}
