/** The sender's place in a distributed trace, as W3C has it; passed on as it is. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
  readonly baggage?: string;
}

/** The longest values that a service takes. */
const MOST = { traceparent: 128, tracestate: 512, baggage: 8192 } as const;

/** Undefined where there is none. What could not be a header is passed over: nobody is refused for it. */
export function traceContext(given: {
  readonly [name: string]: unknown;
}): TraceContext | undefined {
  const { traceparent, tracestate, baggage } = given;
  const trace = {
    ...(isHeader(traceparent, MOST.traceparent) && { traceparent }),
    ...(isHeader(tracestate, MOST.tracestate) && { tracestate }),
    ...(isHeader(baggage, MOST.baggage) && { baggage }),
  };
  return Object.keys(trace).length === 0 ? undefined : trace;
}

function isHeader(value: unknown, most: number): value is string {
  return (
    typeof value === "string" && value.length <= most && /^[\x21-\x7e][\x20-\x7e]*$/.test(value)
  );
}
