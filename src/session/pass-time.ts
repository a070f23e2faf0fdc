import type { Decision, Question } from "../domain/agent-event.ts";
import { toolError } from "../domain/tool.ts";
import { runOf } from "./tools/tools-state.ts";
import type { Work } from "./work.ts";

/** What nobody answered in time is answered by its deadline, and never with a yes. */
export function passTime(work: Work): void {
  for (const { approvalId, question, about, deadline } of work.state.approvals.pending) {
    if (deadline > work.at) continue;
    const decision = AT_DEADLINE[question];
    work.emit({ type: "approval.resolved", approvalId, decision, by: "deadline" });
    if (question !== "lost-call") closeTool(work, about, question);
  }
  for (const { requestId, deadline } of work.state.clients.requests) {
    if (deadline <= work.at) work.emit({ type: "host.answered", requestId, outcome: "deadline" });
  }
}

const AT_DEADLINE: { readonly [One in Question]: Decision } = {
  run: "deny",
  outcome: "failed",
  "lost-call": "stop",
};

function closeTool(work: Work, toolCallId: string, question: "run" | "outcome"): void {
  const run = runOf(work.state.tools, toolCallId);
  if (run === undefined) return;
  const [ending, text] =
    question === "run"
      ? (["denied", `${run.name} was not run: nobody approved it in time.`] as const)
      : ([
          "unknown",
          `${run.name} was running when the bridge was killed. Whether it did its work is not known: look before you call it again.`,
        ] as const);
  const result = toolError(run.call?.id ?? "", text);
  work.emit({ type: "tool.finished", toolCallId, ending, result });
}
