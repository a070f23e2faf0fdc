import type { FailStep, Step } from "../../brains/step.ts";

/**
 * The wire format of a turn, with the state of a single response. A frame is the smallest unit that a fault can
 * affect.
 */
export interface Dialect {
  readonly contentType: string;
  step(step: Step): Uint8Array[];
  /** The final frames after all steps. */
  finish(): Uint8Array[];
  fail(failure: FailStep): Uint8Array;
  /** Sent after the given time without output. */
  readonly keepAlive?: { readonly milliseconds: number; readonly frame: Uint8Array };
}
