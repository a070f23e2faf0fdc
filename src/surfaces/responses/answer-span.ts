import type { Envelope } from "../../domain/envelope.ts";

/** Where the answer to something that was asked is in a session's log. */
export interface AnswerSpan {
  /** Undefined until its turn has begun. */
  readonly turnId: string | undefined;
  /** What comes now belongs to something else. */
  readonly isOver: boolean;
  take(envelope: Envelope): void;
}

/** Follows the log from what was asked on. It ends where its turn ends or pauses, or where it was taken back. */
export function answerSpan(promptId: string): AnswerSpan {
  let turnId: string | undefined;
  let isOver = false;
  return {
    get turnId() {
      return turnId;
    },
    get isOver() {
      return isOver;
    },
    take({ event }) {
      switch (event.type) {
        case "turn.started":
        case "results.given":
          if (event.promptId === promptId) turnId = event.turnId;
          return;
        case "prompt.withdrawn":
          isOver ||= event.promptId === promptId;
          return;
        case "turn.paused":
        case "turn.finished":
          isOver ||= event.turnId === turnId;
          return;
        default:
      }
    },
  };
}
