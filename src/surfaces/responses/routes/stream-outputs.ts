import { flattenAsync } from "../../../async/flatten-async.ts";
import { SSE_DONE } from "../../../wire/responses/encode-sse-event.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/**
 * Formats the outputs of a stream and ends with the SSE end marker. Each output is a separate chunk, so proxies and
 * readers that split at chunks get whole events. `onEnd` is called when the stream ends for any reason.
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
