import type { Timer } from "../../../async/invocation-guard.ts";
import type { ProgressAmount, ToolProgress } from "../../../domain/events/session-event.ts";

/** What a tool tells of its progress: the first at once, later ones now and then, of which the last counts. */
export interface ProgressReporter {
  readonly report: (text: string, amount?: ProgressAmount) => void;
  /** The last that was said is told now; what is said later is not. */
  end(): void;
}

type Progress = Pick<ToolProgress, "text" | "amount">;

export function createProgressReporter(
  timer: Timer,
  onProgress: (progress: Progress) => void,
): ProgressReporter {
  let pendingProgress: Progress | undefined;
  let stopTimer: (() => void) | undefined;
  let isOver = false;
  const sendNow = (progress: Progress): void => {
    pendingProgress = undefined;
    stopTimer = timer.schedule(PAUSE_MS, () => {
      stopTimer = undefined;
      if (pendingProgress !== undefined) sendNow(pendingProgress);
    });
    onProgress(progress);
  };
  return {
    report(text, amount) {
      if (isOver) return;
      const shortenedText = text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
      const progress = { text: shortenedText, ...(amount !== undefined && { amount }) };
      if (stopTimer === undefined) sendNow(progress);
      else pendingProgress = progress;
    },
    end() {
      isOver = true;
      if (pendingProgress !== undefined) onProgress(pendingProgress);
      stopTimer?.();
    },
  };
}

const PAUSE_MS = 250;
const MAX_TEXT = 2000;
