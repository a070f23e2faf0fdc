/** The sender's position in a distributed trace (W3C Trace Context), passed on unchanged. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** Characters. Longest values accepted by AgentCore. */
const MAX_LENGTHS = { traceparent: 128, tracestate: 512, baggage: 8192 } as const;

/**
 * Reads the trace headers. Undefined if there are none. Invalid header values are ignored: tracing must not fail a
 * request.
 */
export function readTraceContext(headers: {
  readonly [name: string]: unknown;
}): TraceContext | undefined {
  const { traceparent, tracestate, baggage } = headers;
  const trace = {
    ...(isHeaderValue(traceparent, MAX_LENGTHS.traceparent) && { traceparent }),
    ...(isHeaderValue(tracestate, MAX_LENGTHS.tracestate) && { tracestate }),
    ...(isHeaderValue(baggage, MAX_LENGTHS.baggage) && { baggage }),
  };
  return Object.keys(trace).length === 0 ? undefined : trace;
}

function isHeaderValue(value: unknown, maxLength: number): value is string {
  return (
    typeof value === "string" &&
    value.length <= maxLength &&
    /^[\x21-\x7e][\x20-\x7e]*$/.test(value)
  );
}
