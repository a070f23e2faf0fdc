import type { Failure } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";

/** Whether what was read so far is a stream that we know: JSON may be anything. */
export interface Recognition {
  isKnown: boolean;
  /** Something came that nobody knows. */
  hasUnknown: boolean;
  failure: Failure | undefined;
}

export function updateRecognition(recognition: Recognition, event: ProviderEvent): void {
  switch (event.type) {
    case "diagnostic":
      return;
    case "unknown":
      recognition.hasUnknown = true;
      return;
    case "end":
      recognition.failure = event.failure;
      // An agent's error is its whole answer, and an empty answer is one too.
      if (event.failure?.code === "stream_exception") recognition.isKnown = true;
      if (event.outcome === "completed" && !recognition.hasUnknown) recognition.isKnown = true;
      return;
    default:
      recognition.isKnown = true;
  }
}
