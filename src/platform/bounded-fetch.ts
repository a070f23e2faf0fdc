/** The subset of `fetch` used by callers of a bounded fetch. */
export type BoundedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The response is larger than its limit. */
export class ResponseTooLargeError extends Error {
  constructor(maxBytes: number) {
    super(`The response is larger than ${maxBytes} bytes`);
    this.name = "AnswerTooLargeError";
  }
}

export interface ResponseLimits {
  /** Bytes of a whole response, or of a single event of an event stream. */
  readonly maxBytes: number;
  /** Called with the number of completed events in each chunk. Reading continues when the returned promise resolves. */
  readonly pace: (events: number) => Promise<void> | undefined;
}

/** Creates a `fetch` whose responses fail when they exceed the limit and are read no faster than `pace` allows. */
export function createBoundedFetch({ maxBytes, pace }: ResponseLimits): BoundedFetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const isEventStream = /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
    const measure = isEventStream ? createEventMeasure() : createTotalMeasure();
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        const { size, events } = measure(chunk);
        if (size > maxBytes) return controller.error(new ResponseTooLargeError(maxBytes));
        controller.enqueue(chunk);
        await pace(events);
      },
    });
    return new Response(body.pipeThrough(limit), { status, statusText, headers });
  };
}

interface ChunkMeasure {
  readonly size: number;
  /** The number of events completed in this chunk. */
  readonly events: number;
}

type Measure = (chunk: Uint8Array) => ChunkMeasure;

function createTotalMeasure(): Measure {
  let size = 0;
  return (chunk) => ({ size: (size += chunk.length), events: 0 });
}

/** Measures the largest event so far in the current chunk. An empty line ends an event. */
function createEventMeasure(): Measure {
  let size = 0;
  let line = 0;
  let last = 0;
  return (chunk) => {
    let maxSize = size;
    let events = 0;
    let at = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      line += end - at;
      size += end + 1 - at;
      maxSize = Math.max(maxSize, size);
      const previousByte = end === 0 ? last : chunk[end - 1];
      if (line === 0 || (line === 1 && previousByte === CARRIAGE_RETURN)) {
        size = 0;
        events += 1;
      }
      line = 0;
      at = end + 1;
    }
    line += chunk.length - at;
    size += chunk.length - at;
    last = chunk.at(-1) ?? last;
    return { size: Math.max(maxSize, size), events };
  };
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
