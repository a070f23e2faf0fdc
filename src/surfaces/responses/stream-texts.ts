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

/** What came together is sent together, as far as it is short. */
function texts<Output>(
  source: AsyncIterator<readonly Output[]>,
  textOf: (output: Output) => string,
  end: () => void,
): AsyncIterator<string> {
  let left: readonly Output[] = [];
  let isAtEnd = false;
  const over = (): Result => {
    end();
    return { done: true, value: undefined };
  };
  const broken = (error: unknown): never => {
    end();
    throw error;
  };
  const piece = (): Result => {
    const [only] = left;
    if (only !== undefined && left.length === 1) {
      left = [];
      return { done: false, value: textOf(only) };
    }
    let text = "";
    let count = 0;
    while (count < left.length && text.length < MOST_CHARACTERS) {
      const output = left[count];
      if (output !== undefined) text += textOf(output);
      count += 1;
    }
    left = left.slice(count);
    return { done: false, value: text };
  };
  const taken = (result: IteratorResult<readonly Output[]>): Result => {
    if (result.done === true) {
      isAtEnd = true;
      return { done: false, value: SSE_DONE };
    }
    left = result.value;
    return piece();
  };
  return {
    next() {
      if (left.length > 0) return Promise.resolve(piece());
      return isAtEnd ? Promise.resolve(over()) : source.next().then(taken, broken);
    },
    async return() {
      end();
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
}

/** Of what a reader has not taken, no more is held at once, but for a text that is longer by itself. */
const MOST_CHARACTERS = 16 * 1024;
