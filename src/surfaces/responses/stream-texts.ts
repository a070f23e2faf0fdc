import { SSE_DONE } from "../../wire/responses/sse-text.ts";

/** What is sent of a stream, with the mark of its end. `end` is told when nothing more is, whoever ended it. */
export function streamTexts<Output>(
  outputs: AsyncIterable<readonly Output[]>,
  textOf: (output: Output) => string,
  end: () => void = () => {},
): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => texts(outputs[Symbol.asyncIterator](), textOf, end) };
}

type Result = IteratorResult<string>;

/** Each by itself: proxies and readers that cut at pieces find whole events. */
function texts<Output>(
  source: AsyncIterator<readonly Output[]>,
  textOf: (output: Output) => string,
  end: () => void,
): AsyncIterator<string> {
  let batch: readonly Output[] = [];
  let at = 0;
  let isAtEnd = false;
  const over = (): Result => {
    end();
    return { done: true, value: undefined };
  };
  const broken = (error: unknown): never => {
    end();
    throw error;
  };
  const next = (): Promise<Result> => {
    const output = batch[at];
    at += 1;
    if (output !== undefined) return Promise.resolve({ done: false, value: textOf(output) });
    return isAtEnd ? Promise.resolve(over()) : source.next().then(taken, broken);
  };
  const taken = (result: IteratorResult<readonly Output[]>): Result | Promise<Result> => {
    if (result.done === true) {
      isAtEnd = true;
      return { done: false, value: SSE_DONE };
    }
    batch = result.value;
    at = 0;
    return next();
  };
  return {
    next,
    async return() {
      end();
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}
