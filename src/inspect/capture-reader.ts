import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { harnessStream } from "../wire/agentcore/harness-stream.ts";
import { jsonStream } from "../wire/agentcore/json-stream.ts";
import { runtimeStream } from "../wire/agentcore/runtime-stream.ts";
import type { StreamFormat } from "./capture-format.ts";

/**
 * The codec for a captured stream. It reads on behind damage, since the point is to see as much as there is. A document
 * of which nothing is known is the answer of an app only where somebody says that it is one.
 */
export function captureReader(
  format: StreamFormat,
  strangeDocument: "structured-result" | "unknown",
): Codec<unknown, Uint8Array, ProviderEvent> {
  switch (format) {
    case "eventstream":
      return harnessStream({ mode: "lenient" });
    case "sse":
      return runtimeStream();
    case "json-array":
      return jsonStream("array");
    case "json-lines":
      return jsonStream("lines");
    case "json":
      return jsonStream("document", { strangeDocument });
    default:
      return format satisfies never;
  }
}
