import {
  checkCount,
  throwInvalidOption,
  checkQualifier,
  checkRuntimeArn,
  checkSessionId,
} from "../check-options.ts";
import {
  encodeSessionHeaders,
  type SessionHeaders,
  encodeJsonBody,
  type WireRequest,
} from "../wire-request.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** A session on an agent runtime, or on a harness addressed as a runtime. */
export interface RuntimeTarget extends SessionHeaders {
  readonly runtimeArn: string;
  readonly qualifier?: string;
}

/** Encodes InvokeAgentRuntime. The payload is opaque: caller and agent define its format. At most 100,000,000 bytes. */
export function encodeInvokeRuntime(target: RuntimeTarget, payload: Uint8Array): WireRequest {
  if (payload.length > MAX_PAYLOAD_BYTES) {
    throwInvalidOption("payload", payload.length, `at most ${MAX_PAYLOAD_BYTES} bytes`);
  }
  return {
    ...encodeOperation(target, "invocations"),
    headers: {
      "content-type": "application/json",
      // TypeScript apps do not stream without `text/event-stream`.
      accept: "text/event-stream, application/json",
      ...encodeHeaders(target),
    },
    body: payload,
  };
}

const MAX_PAYLOAD_BYTES = 100_000_000;

export function encodeStopSession(target: RuntimeTarget, token: string): WireRequest {
  return {
    ...encodeOperation(target, "stopruntimesession"),
    headers: { "content-type": "application/json", ...encodeHeaders(target) },
    body: encodeJsonBody({ clientToken: token }),
  };
}

/** Encodes InvokeAgentRuntimeCommand. The timeout is at most 3,600 seconds. */
export function encodeRunCommand(
  target: RuntimeTarget,
  command: string,
  timeoutSeconds: number | undefined,
): WireRequest {
  if (command === "" || command.length > MAX_COMMAND_LENGTH) {
    throwInvalidOption(
      "command",
      command,
      `1 to ${MAX_COMMAND_LENGTH} characters, not ${command.length}`,
    );
  }
  if (timeoutSeconds !== undefined && checkCount("timeoutSeconds", timeoutSeconds) > 3600) {
    throwInvalidOption("timeoutSeconds", timeoutSeconds, "at most 3600");
  }
  return {
    ...encodeOperation(target, "commands"),
    headers: {
      "content-type": "application/json",
      accept: "application/vnd.amazon.eventstream",
      ...encodeHeaders(target),
    },
    body: encodeJsonBody({
      command,
      ...omitUndefined({ timeout: timeoutSeconds }),
    }),
  };
}

const MAX_COMMAND_LENGTH = 65_536;

function encodeOperation(
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

function encodeHeaders(target: RuntimeTarget): { readonly [name: string]: string } {
  checkSessionId("sessionId", target.sessionId);
  return encodeSessionHeaders(target, { traceparent: 128, traceId: 128 });
}
