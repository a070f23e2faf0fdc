import type { InvocationSettings } from "../../brains/brain.ts";
import type { Message } from "../../brains/session-message.ts";
import type { SeededRandom } from "../../brains/seeded-random.ts";

/** What an agent's stream shows of the agent itself, beside what it says. */
export interface StrandsAgent {
  /** The session so far, the newest message included. */
  readonly messages: readonly Message[];
  readonly settings: InvocationSettings;
  /** For the ids and addresses that a stream is full of. */
  readonly random: SeededRandom;
}

export const SSE_CONTENT_TYPE = "text/event-stream";
