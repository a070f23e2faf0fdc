import type { SessionTold } from "../host/index.ts";

/** Whether a turn runs in a session, whoever prompted for it. That one has ended everybody is told; that one has begun shows in what is said. */
export interface ChatTurns {
  told(told: Pick<SessionTold, "update">): void;
  /** What was said belonged to no turn: the bridge itself answered. */
  over(): void;
  readonly isRunning: boolean;
  /** How many have ended. */
  readonly ended: number;
}

export function chatTurns(): ChatTurns {
  let isRunning = false;
  let ended = 0;
  return {
    told({ update }) {
      switch (update.type) {
        case "user-text":
        case "agent-text":
        case "agent-thought":
        case "tool":
          isRunning = true;
          return;
        case "info":
          if (update.turn === undefined) return;
          isRunning = false;
          ended += 1;
          return;
        default:
          return;
      }
    },
    over() {
      isRunning = false;
    },
    get isRunning() {
      return isRunning;
    },
    get ended() {
      return ended;
    },
  };
}
