import { SpanlineError } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import type { ProviderInvocation } from "../provider.ts";

/** Starts the events of an invocation. Calls `onResponse` with the request id of the server. */
export type BeginInvocation = (
  signal: AbortSignal,
  onResponse: (requestId: string | undefined) => void,
) => AsyncGenerator<ProviderEvent>;

/** Starts an invocation and resolves with its first event. An earlier error rejects the promise. */
export async function openInvocation(
  signal: AbortSignal,
  begin: BeginInvocation,
): Promise<ProviderInvocation> {
  const leaving = new AbortController();
  let requestId: string | undefined;
  let isStarted = false;
  const events = begin(AbortSignal.any([signal, leaving.signal]), (id) => {
    // Keeps the id of the first request if the model is called several times.
    requestId ??= id;
  });
  let first: IteratorResult<ProviderEvent> | undefined = await events.next();
  const close = (): void => {
    leaving.abort();
    // The caller does not wait for the end of the generator.
    events.return(undefined).catch(() => undefined);
  };
  const iterator: AsyncIterator<ProviderEvent> = {
    async next() {
      const next = first ?? (await events.next());
      first = undefined;
      return next;
    },
    async return(value: unknown) {
      close();
      return { done: true, value };
    },
  };
  return {
    get requestId() {
      return requestId;
    },
    close,
    [Symbol.asyncIterator]() {
      if (isStarted)
        throw new SpanlineError(
          "invalid_option",
          "The events of an invocation can be read only once",
        );
      isStarted = true;
      return iterator;
    },
  };
}
