import { flattenAsync } from "../../../async/flatten-async.ts";
import { SSE_DONE } from "../../../wire/responses/encode-sse-event.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/**
 * What is sent of a stream, with the mark of its end. Each by itself: proxies and readers that cut at pieces find whole
 * events. `end` is told when nothing more is sent, whoever ended it.
 */
export function streamOutputs<Output>(
  outputs: AsyncIterator<readonly Output[]>,
  format: (output: Output) => string,
  onEnd?: () => void,
): AsyncIterable<string> {
  return flattenAsync(outputs, {
    *expand(batch) {
      for (const output of batch) yield format(output);
    },
    onEnd: () => [SSE_DONE],
    ...omitUndefined({ onClose: onEnd }),
  });
}
