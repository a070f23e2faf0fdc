import type { AgentCoreClient, ServiceRequest } from "../../aws/agentcore-client.ts";
import type { Codec } from "../../domain/codec.ts";
import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { HttpResponse } from "../../platform/http-client.ts";
import type { ServiceResponse } from "../../remote/single-attempt-client.ts";
import { openResponse, readStream, type ReadStreamOptions } from "../../remote/read-response.ts";
import type { TimeLimits } from "../../remote/time-limits.ts";
import type { EventStream } from "../provider.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";

export interface OpenStreamOptions<Event> {
  readonly service: AgentCoreClient;
  /** Creates the request. The time for this counts towards the limits of the invocation. */
  readonly prepare: (signal: AbortSignal) => Promise<ServiceRequest>;
  readonly limits: TimeLimits;
  readonly signal: AbortSignal;
  readonly tap?: (chunk: Uint8Array) => void;
  /** Creates the decoder for the content type of the response. */
  readonly createCodec: (response: ServiceResponse) => Codec<unknown, Uint8Array, Event>;
  readonly finishBroken: ReadStreamOptions<Event>["finishBroken"];
}

/** Sends a request and resolves when its response has started. */
export async function openStream<Event>(
  options: OpenStreamOptions<Event>,
): Promise<EventStream<Event>> {
  const { service, limits, signal, tap, finishBroken } = options;
  const { response, guard } = await openResponse({
    clock: service.clock,
    limits,
    signal,
    async send(ending) {
      const request = await options.prepare(ending);
      return service.send("data", { ...request, connectMilliseconds: limits.connect }, ending);
    },
  });
  const requestId = readRequestId(response);
  const codec = options.createCodec(response);
  const reading = { response, requestId, codec, guard, limits, signal, finishBroken };
  const events = readStream(tap === undefined ? reading : { ...reading, tap });
  const close = (): void => {
    guard.release();
    response.close();
  };
  return { requestId, [Symbol.asyncIterator]: createSingleReader(events, close), close };
}

/** The request id assigned by AWS, for support requests. */
export function readRequestId({ headers }: Pick<HttpResponse, "headers">): string | undefined {
  return headers["x-amzn-requestid"];
}

/**
 * Closes the connection when the reader stops. A generator that was never started does not run its `finally` block, so
 * `return` must close explicitly.
 */
function createSingleReader<Event>(
  events: AsyncGenerator<Event>,
  close: () => void,
): () => AsyncIterator<Event> {
  let isStarted = false;
  return () => {
    if (isStarted)
      throw new SpanlineError(
        "invalid_option",
        "The events of an invocation can be read only once",
      );
    isStarted = true;
    return {
      next: () => events.next(),
      return(value?: unknown) {
        close();
        return events.return(value);
      },
      throw(error?: unknown) {
        close();
        return events.throw(error);
      },
    };
  };
}

/**
 * Ends a turn whose connection was lost. A turn with a known end keeps its outcome, so its message and its open tool
 * calls are not lost. Otherwise the turn fails and its tool calls are dropped, because the list may be incomplete.
 */
export function endBrokenTurn(events: readonly ProviderEvent[], failure: Failure): ProviderEvent[] {
  return events.flatMap((event): ProviderEvent[] => {
    if (event.type !== "end") return [event];
    if (event.outcome === "failed") return [{ ...event, openToolCallIds: [], failure }];
    const diagnostic = { code: "cut_after_end", message: failure.message } as const;
    return [{ type: "diagnostic", diagnostic }, event];
  });
}
