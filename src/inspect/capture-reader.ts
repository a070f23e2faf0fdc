import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import { createHarnessStream } from "../wire/agentcore/harness/harness-stream.ts";
import { createJsonStream } from "../wire/agentcore/capture/json-stream.ts";
import { createRuntimeStream } from "../wire/agentcore/runtime/runtime-stream.ts";
import type { StreamFormat } from "./capture-format.ts";

/**
 * The codec for a captured stream. It reads on behind damage, since the point is to see as much as there is. A document
 * of which nothing is known is the answer of an app only where somebody says that it is one.
 */
export function createCaptureReader(
  format: StreamFormat,
  unknownDocument: "structured-result" | "unknown",
): Codec<unknown, Uint8Array, ProviderEvent> {
  switch (format) {
    case "eventstream":
      return createHarnessStream({ mode: "lenient" });
    case "sse":
      return createRuntimeStream();
    case "json-array":
      return createJsonStream("array");
    case "json-lines":
      return createJsonStream("lines");
    case "json":
      return createJsonStream("document", { unknownDocument });
    default:
      return format satisfies never;
  }
}
