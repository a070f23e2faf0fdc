import type { SessionNotification } from "../../host/index.ts";

/** Whether a turn runs in a session, whoever prompted for it. That one has ended everybody is told; that one has begun shows in what is said. */
export interface ChatTurns {
  update(notification: Pick<SessionNotification, "update">): void;
  /** What was said belonged to no turn: the bridge itself answered. */
  markIdle(): void;
  readonly isRunning: boolean;
  /** How many have ended. */
  readonly endedCount: number;
}

export function createChatTurns(): ChatTurns {
  let isRunning = false;
  let endedCount = 0;
  return {
    update({ update }) {
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
          endedCount += 1;
          return;
        default:
          return;
      }
    },
    markIdle() {
      isRunning = false;
    },
    get isRunning() {
      return isRunning;
    },
    get endedCount() {
      return endedCount;
    },
  };
}
