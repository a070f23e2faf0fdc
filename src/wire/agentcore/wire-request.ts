import type { TraceContext as W3cTraceContext } from "../../domain/trace-context.ts";
import { checkLength } from "./check-options.ts";

/** A request to the service without host and signature. */
export interface WireRequest {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Escaped once. Signing escapes the path a second time. */
  readonly path: string;
  readonly query: { readonly [name: string]: string };
  readonly headers: { readonly [name: string]: string };
  readonly body?: Uint8Array;
}

export function encodeJsonBody(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

const encoder = new TextEncoder();

/** The W3C trace context, extended by the trace id of AWS X-Ray. */
export interface TraceContext extends W3cTraceContext {
  readonly traceId?: string;
}

export interface SessionHeaders {
  readonly sessionId: string;
  /** The user on whose behalf the agent acts. */
  readonly userId?: string;
  readonly trace?: TraceContext;
}

/** The maximum lengths of an operation's headers, in characters. */
interface HeaderLimits {
  readonly traceparent: number;
  readonly traceId: number;
}

export function encodeSessionHeaders(
  { sessionId, userId, trace = {} }: SessionHeaders,
  limits: HeaderLimits,
): { readonly [name: string]: string } {
  const { traceparent, tracestate, traceId, baggage } = trace;
  return {
    "x-amzn-bedrock-agentcore-runtime-session-id": sessionId,
    ...encodeOptionalHeader("x-amzn-bedrock-agentcore-runtime-user-id", "userId", userId, 1024),
    ...encodeOptionalHeader("traceparent", "trace.traceparent", traceparent, limits.traceparent),
    ...encodeOptionalHeader("tracestate", "trace.tracestate", tracestate, 512),
    ...encodeOptionalHeader("x-amzn-trace-id", "trace.traceId", traceId, limits.traceId),
    ...encodeOptionalHeader("baggage", "trace.baggage", baggage, 8192),
  };
}

function encodeOptionalHeader(
  name: string,
  path: string,
  value: string | undefined,
  maxLength: number,
): { readonly [name: string]: string } {
  return value === undefined ? {} : { [name]: checkLength(path, value, maxLength) };
}
