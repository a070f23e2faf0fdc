import { guardCall } from "../../async/call-guard.ts";
import type { AwsAnswer } from "../../aws/caller.ts";
import type { AgentCore, ServiceRequest } from "../../aws/agentcore.ts";
import type { Codec } from "../../domain/codec.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { AbortError } from "../../domain/provider-error.ts";
import type { EventStream } from "../provider.ts";
import { limitError, milliseconds, type CallLimits, type LimitName } from "./limits.ts";
import { readStream, requestIdOf, type StreamReading } from "./read-stream.ts";

export interface StreamCall<Event> {
  readonly service: AgentCore;
  /** What to send, once it is known; finding that out is part of the call. */
  readonly prepare: (signal: AbortSignal) => Promise<ServiceRequest>;
  readonly limits: CallLimits;
  readonly signal: AbortSignal;
  readonly tap?: (chunk: Uint8Array) => void;
  /** How to read the answer, by its headers. */
  readonly codecFor: (answer: AwsAnswer) => Codec<unknown, Uint8Array, Event>;
  readonly broken: StreamReading<Event>["broken"];
}

/** Makes one call and resolves once its answer has begun. */
export async function openStream<Event>(call: StreamCall<Event>): Promise<EventStream<Event>> {
  const { service, limits, signal, tap } = call;
  const { clock } = service;
  const total = { limit: "total", milliseconds: milliseconds(limits, "total") } as const;
  const guard = guardCall<LimitName>(clock, signal, total);
  guard.wait("firstEvent", milliseconds(limits, "firstEvent"));
  const send = async (): Promise<AwsAnswer> => {
    const request = await call.prepare(guard.signal);
    return service.call("data", request, guard.signal);
  };
  const answer = await send().catch((error: unknown) => {
    guard.release();
    const sent = error instanceof AbortError && error.sent;
    if (guard.reached !== null)
      throw limitError(guard.reached, limits, { phase: sent ? "http" : "connect" });
    throw signal.aborted ? new AbortError(signal.reason, sent) : error;
  });
  const events = readStream({
    answer,
    codec: call.codecFor(answer),
    guard,
    clock,
    limits,
    signal,
    broken: call.broken,
    ...(tap !== undefined && { tap }),
  });
  const close = (): void => {
    guard.release();
    answer.close();
  };
  return {
    requestId: requestIdOf(answer).requestId,
    [Symbol.asyncIterator]: readOnce(events, close),
    close,
  };
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
