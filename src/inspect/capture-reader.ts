import type { Codec } from "../domain/codec.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import { createHarnessStream } from "../wire/agentcore/harness/harness-stream.ts";
import { createJsonStream } from "../wire/agentcore/capture/json-stream.ts";
import { createRuntimeStream } from "../wire/agentcore/runtime/runtime-stream.ts";
import type { StreamFormat } from "./capture-format.ts";

/**
 * The codec for a captured stream. Lenient: reading continues after damage, to show as much as possible. An
 * unrecognized JSON document counts as an app's response only if the user named the format.
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
