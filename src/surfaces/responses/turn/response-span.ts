import type {
  PromptWithdrawn,
  TurnFinished,
  TurnPaused,
} from "../../../domain/events/turn-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";

/** Where the answer to something that was asked is in a session's log. */
export interface ResponseSpan {
  /** Undefined until its turn has begun. */
  readonly turnId: string | undefined;
  /** What it ended with. What comes now belongs to something else. */
  readonly end: ResponseEnd | undefined;
  apply(envelope: Envelope): void;
}

type ResponseEnd = PromptWithdrawn | TurnPaused | TurnFinished;

/** Follows the log from what was asked on. It ends where its turn ends or pauses, or where it was taken back. */
export function createResponseSpan(promptId: string): ResponseSpan {
  let turnId: string | undefined;
  let end: ResponseEnd | undefined;
  return {
    get turnId() {
      return turnId;
    },
    get end() {
      return end;
    },
    apply({ event }) {
      switch (event.type) {
        case "turn.started":
        case "tool_results.submitted":
          if (event.promptId === promptId) turnId = event.turnId;
          return;
        case "prompt.withdrawn":
          if (event.promptId === promptId) end ??= event;
          return;
        case "turn.paused":
        case "turn.finished":
          if (event.turnId === turnId) end ??= event;
          return;
        default:
      }
    },
  };
}
