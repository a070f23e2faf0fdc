import type { HttpResponse } from "../../platform/http-client.ts";
import { randomString } from "../../platform/random.ts";
import { checkSessionId } from "../../wire/agentcore/check-options.ts";
import type { OpenOptions } from "../provider.ts";

/** The id of the conversation that is wanted, or a new one. */
export function resolveSessionId({ sessionId }: OpenOptions): string {
  return sessionId === undefined ? createSessionId() : checkSessionId("sessionId", sessionId);
}

/** Names the bridge in the service's own logs, with more chance in it than a UUID has. */
function createSessionId(): string {
  return `spanline-${randomString(32)}`;
}

/** The service's id of a call, for its support. */
export function readRequestId({ headers }: Pick<HttpResponse, "headers">): string | undefined {
  return headers["x-amzn-requestid"];
}
