import type { InvocationSettings } from "../../brains/brain.ts";
import type { Message } from "../../brains/session-message.ts";
import type { SeededRandom } from "../../brains/seeded-random.ts";

/** The agent's own data that appears in its stream. */
export interface StrandsAgent {
  /** The session so far, including the newest message. */
  readonly messages: readonly Message[];
  readonly settings: InvocationSettings;
  /** For the ids and memory addresses in a stream. */
  readonly random: SeededRandom;
}

export const SSE_CONTENT_TYPE = "text/event-stream";
