import type { Timer } from "../async/call-guard.ts";
import type { ProgressAmount, ToolProgressed } from "../domain/agent-event.ts";

/** What a tool tells of its progress: the first at once, later ones now and then, of which the last counts. */
export interface ProgressReport {
  readonly say: (text: string, amount?: ProgressAmount) => void;
  /** The last that was said is told now; what is said later is not. */
  end(): void;
}

type Progress = Pick<ToolProgressed, "text" | "amount">;

export function progressReport(timer: Timer, tell: (progress: Progress) => void): ProgressReport {
  let waiting: Progress | undefined;
  let stopTimer: (() => void) | undefined;
  let isOver = false;
  const tellNow = (progress: Progress): void => {
    waiting = undefined;
    stopTimer = timer.after(PAUSE_MS, () => {
      stopTimer = undefined;
      if (waiting !== undefined) tellNow(waiting);
    });
    tell(progress);
  };
  return {
    say(text, amount) {
      if (isOver) return;
      const shown = text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
      const progress = { text: shown, ...(amount !== undefined && { amount }) };
      if (stopTimer === undefined) tellNow(progress);
      else waiting = progress;
    },
    end() {
      isOver = true;
      if (waiting !== undefined) tell(waiting);
      stopTimer?.();
    },
  };
}

const PAUSE_MS = 250;
const MAX_TEXT = 2000;
