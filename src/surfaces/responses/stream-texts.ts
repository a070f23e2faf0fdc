import { flattened } from "../../async/flattened.ts";
import { SSE_DONE } from "../../wire/responses/sse-text.ts";

/**
 * What is sent of a stream, with the mark of its end. Each by itself: proxies and readers that cut at pieces find whole
 * events. `end` is told when nothing more is sent, whoever ended it.
 */
export function streamTexts<Output>(
  outputs: AsyncIterator<readonly Output[]>,
  textOf: (output: Output) => string,
  end?: () => void,
): AsyncIterable<string> {
  return flattened(outputs, {
    *of(batch) {
      for (const output of batch) yield textOf(output);
    },
    atEnd: () => [SSE_DONE],
    ...(end !== undefined && { leave: end }),
  });
}
