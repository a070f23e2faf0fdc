import type { FailStep, Step } from "../../brains/step.ts";

/** How a turn is written: one value for one answer. A frame is the smallest unit that a fault can strike. */
export interface Dialect {
  readonly contentType: string;
  step(step: Step): Uint8Array[];
  /** What is left to say when all steps are written. */
  finish(): Uint8Array[];
  fail(failure: FailStep): Uint8Array;
  /** Sent when the stream has been silent for so long. */
  readonly keepAlive?: { readonly milliseconds: number; readonly frame: Uint8Array };
}
