import { checkCount, refuse } from "./check.ts";
import { checkQualifier, checkRuntimeArn, checkSessionId } from "./names.ts";
import { sessionHeaders, type SessionHeaders } from "./session-headers.ts";
import { jsonBody, type WireRequest } from "./wire-request.ts";

/** An agent runtime, or a harness as one, and a session on it. */
export interface RuntimeTarget extends SessionHeaders {
  readonly runtimeArn: string;
  readonly qualifier?: string;
}

/** InvokeAgentRuntime. The payload is between the caller and the agent. */
export function runtimeRequest(target: RuntimeTarget, payload: Uint8Array): WireRequest {
  if (payload.length > MOST_PAYLOAD_BYTES) {
    refuse("payload", payload.length, `at most ${MOST_PAYLOAD_BYTES} bytes`);
  }
  return {
    ...operation(target, "invocations"),
    headers: {
      "content-type": "application/json",
      // Apps in TypeScript refuse to stream without it.
      accept: "text/event-stream, application/json",
      ...headersOf(target),
    },
    body: payload,
  };
}

const MOST_PAYLOAD_BYTES = 100_000_000;

export function stopSessionRequest(target: RuntimeTarget, token: string): WireRequest {
  return {
    ...operation(target, "stopruntimesession"),
    headers: { "content-type": "application/json", ...headersOf(target) },
    body: jsonBody({ clientToken: token }),
  };
}

/** InvokeAgentRuntimeCommand. */
export function commandRequest(
  target: RuntimeTarget,
  command: string,
  timeoutSeconds: number | undefined,
): WireRequest {
  if (command === "" || command.length > LONGEST_COMMAND) {
    refuse("command", command, `1 to ${LONGEST_COMMAND} characters, not ${command.length}`);
  }
  if (timeoutSeconds !== undefined && checkCount("timeoutSeconds", timeoutSeconds) > 3600) {
    refuse("timeoutSeconds", timeoutSeconds, "at most 3600");
  }
  return {
    ...operation(target, "commands"),
    headers: {
      "content-type": "application/json",
      accept: "application/vnd.amazon.eventstream",
      ...headersOf(target),
    },
    body: jsonBody({ command, ...(timeoutSeconds !== undefined && { timeout: timeoutSeconds }) }),
  };
}

const LONGEST_COMMAND = 65_536;

function operation(
  { runtimeArn, qualifier }: RuntimeTarget,
  name: string,
): Pick<WireRequest, "method" | "path" | "query"> {
  const arn = checkRuntimeArn("runtimeArn", runtimeArn);
  return {
    method: "POST",
    path: `/runtimes/${encodeURIComponent(arn)}/${name}`,
    query: qualifier === undefined ? {} : { qualifier: checkQualifier("qualifier", qualifier) },
  };
}

function headersOf(target: RuntimeTarget): { readonly [name: string]: string } {
  checkSessionId("sessionId", target.sessionId);
  return sessionHeaders(target, { traceparent: 128, traceId: 128 });
}
