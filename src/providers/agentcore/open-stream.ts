import type { AgentCore, ServiceRequest } from "../../aws/agentcore.ts";
import type { Codec } from "../../domain/codec.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { ServiceAnswer } from "../../remote/once-caller.ts";
import { openAnswer } from "../../remote/open-answer.ts";
import { readStream, type StreamReading } from "../../remote/read-stream.ts";
import type { TimeLimits } from "../../remote/time-limits.ts";
import type { EventStream } from "../provider.ts";
import { requestIdOf } from "./request-id.ts";

export interface StreamCall<Event> {
  readonly service: AgentCore;
  /** What to send, once it is known; finding that out is part of the call. */
  readonly prepare: (signal: AbortSignal) => Promise<ServiceRequest>;
  readonly limits: TimeLimits;
  readonly signal: AbortSignal;
  readonly tap?: (chunk: Uint8Array) => void;
  /** How to read the answer, by its headers. */
  readonly codecFor: (answer: ServiceAnswer) => Codec<unknown, Uint8Array, Event>;
  readonly broken: StreamReading<Event>["broken"];
}

/** Makes one call and resolves once its answer has begun. */
export async function openStream<Event>(call: StreamCall<Event>): Promise<EventStream<Event>> {
  const { service, limits, signal, tap, broken } = call;
  const { answer, guard } = await openAnswer({
    clock: service.clock,
    limits,
    signal,
    async send(ending) {
      const request = await call.prepare(ending);
      return service.call("data", { ...request, connectMilliseconds: limits.connect }, ending);
    },
  });
  const requestId = requestIdOf(answer);
  const codec = call.codecFor(answer);
  const reading = { answer, requestId, codec, guard, limits, signal, broken };
  const events = readStream(tap === undefined ? reading : { ...reading, tap });
  const close = (): void => {
    guard.release();
    answer.close();
  };
  return { requestId, [Symbol.asyncIterator]: readOnce(events, close), close };
}

/** A generator that was never asked for anything does not hear that nobody will: whoever leaves then has to close. */
function readOnce<Event>(
  events: AsyncGenerator<Event>,
  close: () => void,
): () => AsyncIterator<Event> {
  let isTaken = false;
  return () => {
    if (isTaken) throw new SpanlineError("invalid_option", "The events of a call are read once");
    isTaken = true;
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
