import { SpanlineError } from "../../domain/errors.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import type { ProviderInvocation } from "../provider.ts";

/** Begins the events of a call; `answered` is to be told the server's id of it. */
export type BeginInvocation = (
  signal: AbortSignal,
  onResponse: (requestId: string | undefined) => void,
) => AsyncGenerator<ProviderEvent>;

/** Resolves with the first event. What is thrown before that is what the call comes to. */
export async function openInvocation(
  signal: AbortSignal,
  begin: BeginInvocation,
): Promise<ProviderInvocation> {
  const leaving = new AbortController();
  let requestId: string | undefined;
  let isStarted = false;
  const events = begin(AbortSignal.any([signal, leaving.signal]), (id) => {
    // The first is the one that the caller waits for.
    requestId ??= id;
  });
  let first: IteratorResult<ProviderEvent> | undefined = await events.next();
  const close = (): void => {
    leaving.abort();
    // Whoever ended it is not waiting for it.
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
        throw new SpanlineError("invalid_option", "The events of a call are read once");
      isStarted = true;
      return iterator;
    },
  };
}
