/** The sender's place in a distributed trace, as W3C has it; passed on as it is. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** The longest values that a service takes. */
const MAX_LENGTHS = { traceparent: 128, tracestate: 512, baggage: 8192 } as const;

/** Undefined where there is none. What could not be a header is passed over: nobody is refused for it. */
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
