import { unanswered } from "./approvals/questions.ts";
import { expireRequests } from "./clients/host-requests.ts";
import { giveUpAwaited } from "./tools/awaited-calls.ts";
import { finishTool, notRun, unknownText } from "./tools/finish-tool.ts";
import { runOf } from "./tools/tools-state.ts";
import { endLatePause } from "./turn/paused-turn.ts";
import type { Work } from "./work.ts";

/** What nobody answered in time is answered by its deadline, and never with a yes. */
export function passTime(work: Work): void {
  giveUpAwaited(work);
  for (const asked of work.state.approvals.pending) {
    const { question, about, deadline } = asked;
    if (deadline > work.at) continue;
    unanswered(work, asked, "deadline");
    if (question !== "lost-call") closeTool(work, about, question);
  }
  endLatePause(work);
  expireRequests(work);
}

function closeTool(work: Work, toolCallId: string, question: "run" | "outcome"): void {
  const run = runOf(work.state.tools, toolCallId);
  if (run === undefined) return;
  const [ending, text] =
    question === "run"
      ? (["denied", `${notRun(run)}: nobody approved it in time.`] as const)
      : (["unknown", unknownText(run)] as const);
  finishTool(work, run, { ending, text });
}
