import type { SessionNotification } from "../../host/index.ts";

/**
 * Tracks whether a turn runs in a session, whichever client prompted. The end of a turn is reported to all clients; its
 * start is inferred from the updates.
 */
export interface ChatTurns {
  update(notification: Pick<SessionNotification, "update">): void;
  /** Called if the last updates did not belong to a turn, because the bridge itself replied. */
  markIdle(): void;
  readonly isRunning: boolean;
  /** Number of turns that have ended. */
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
