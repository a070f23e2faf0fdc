import type { TurnOutcome } from "../../domain/agent-event.ts";
import type { Failure } from "../../domain/errors.ts";
import { unanswered } from "../approvals/questions.ts";
import { dropRequests } from "../clients/host-requests.ts";
import { finishTool } from "../tools/finish-tool.ts";
import { restPlan } from "../tools/plan.ts";
import { isHandedOut, isOpen } from "../tools/tools-state.ts";
import type { Work } from "../work.ts";
import type { CurrentTurn } from "./turn-state.ts";

interface Finish {
  readonly outcome: TurnOutcome;
  readonly reason: string | null;
  readonly failure?: Failure;
}

/** Every call of a tool is closed before the turn is. */
export function finish(work: Work, { turnId }: CurrentTurn, how: Finish): void {
  const { outcome, reason, failure } = how;
  for (const asked of work.state.approvals.pending) unanswered(work, asked, "cancel");
  for (const run of work.state.tools.runs) {
    if (!isOpen(run)) continue;
    const why = outcome === "cancelled" ? "the turn was cancelled" : "the turn ended before";
    const wasStarted = run.attempt > 0;
    const text = isHandedOut(run)
      ? `No result of ${run.name} came: ${why}. Whether it was run is not known.`
      : wasStarted
        ? `${run.name} was stopped: ${why}. What it had done by then is not known.`
        : `${run.name} was not run: ${why}.`;
    const ending = wasStarted && outcome !== "cancelled" ? "unknown" : "cancelled";
    finishTool(work, run, { ending, text });
  }
  restPlan(work);
  // Only tools ask for something of a client, and none is left.
  dropRequests(work);
  const { usage, steps } = work.state.turn.current ?? { usage: null, steps: 0 };
  work.emit({
    type: "turn.finished",
    turnId,
    outcome,
    reason,
    usage,
    steps,
    ...(failure !== undefined && { failure }),
  });
}
