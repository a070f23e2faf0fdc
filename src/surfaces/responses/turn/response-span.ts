import type {
  PromptWithdrawn,
  TurnFinished,
  TurnPaused,
} from "../../../domain/events/turn-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";

/** The range of a session's log that belongs to one response. */
export interface ResponseSpan {
  /** Undefined until the turn starts. */
  readonly turnId: string | undefined;
  /** The event that ended the response. Later events belong to other responses. */
  readonly end: ResponseEnd | undefined;
  apply(envelope: Envelope): void;
}

type ResponseEnd = PromptWithdrawn | TurnPaused | TurnFinished;

/** Follows the log from the prompt on. The span ends when its turn ends or pauses, or when the prompt is withdrawn. */
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
