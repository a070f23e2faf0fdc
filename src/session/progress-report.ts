import type { Timer } from "../async/call-guard.ts";

/** What a tool tells of its progress: the first at once, later ones now and then, of which the last counts. */
export interface ProgressReport {
  readonly say: (text: string) => void;
  /** The last that was said is told now; what is said later is not. */
  end(): void;
}

export function progressReport(timer: Timer, tell: (text: string) => void): ProgressReport {
  let waiting: string | undefined;
  let stopTimer: (() => void) | undefined;
  let isOver = false;
  const tellNow = (text: string): void => {
    waiting = undefined;
    stopTimer = timer.after(PAUSE_MS, () => {
      stopTimer = undefined;
      if (waiting !== undefined) tellNow(waiting);
    });
    tell(text);
  };
  return {
    say(text) {
      if (isOver) return;
      const shown = text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
      if (stopTimer === undefined) tellNow(shown);
      else waiting = shown;
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
