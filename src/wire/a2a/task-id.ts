import {
  formatLogPosition,
  parseLogPosition,
  type LogPosition,
} from "../../domain/events/log-position.ts";

/** A task is a prompt with its turn. Its id is the position of the prompt in the log of the session. */
export function formatTaskId(position: LogPosition): string {
  return `task_${formatLogPosition(position)}`;
}

export function parseTaskId(id: string): LogPosition | null {
  return id.startsWith("task_") ? parseLogPosition(id.slice("task_".length)) : null;
}
