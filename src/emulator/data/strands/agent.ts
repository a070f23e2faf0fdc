import type { Settings } from "../../brains/brain.ts";
import type { Message } from "../../brains/message.ts";
import type { Random } from "../../brains/random.ts";

/** What an agent's stream shows of the agent itself, beside what it says. */
export interface StrandsAgent {
  /** The session so far, the newest message included. */
  readonly messages: readonly Message[];
  readonly settings: Settings;
  /** For the ids and addresses that a stream is full of. */
  readonly random: Random;
}

export const SSE = "text/event-stream";
