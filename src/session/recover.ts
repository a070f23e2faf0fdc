import { detachAll } from "./clients/attach-client.ts";
import { dropRequests } from "./clients/host-requests.ts";
import type { Input } from "./input.ts";
import type { AgentFacts } from "../domain/agent-event.ts";
import { askAbout, startTool } from "./tools/advance-tools.ts";
import { judgeCall } from "./tools/judge-call.ts";
import type { ToolRun } from "./tools/tools-state.ts";
import { loseCall } from "./turn/call-said.ts";
import { agentOf, type Work } from "./work.ts";

type Recovered = Extract<Input, { readonly type: "recovered" }>;

/** Takes over from a process that is gone: its calls are lost, its tools are settled, its connections are closed. */
export function recover(work: Work, { epoch, agent, isHere = false }: Recovered): void {
  const { turn, clients, tools } = work.state;
  const isLeft = !isHere && clients.attached.length > 0;
  const isBusy = turn.current !== null || isLeft || tools.programs.length > 0;
  // Before anything else: the time since the event before it was nobody's.
  if (isBusy) work.emit({ type: "session.recovered", epoch });
  if (agent !== undefined) {
    work.emit({ type: "agent.bound", digest: agent.digest, definition: agent.facts });
  }
  if (!isBusy) return;
  if (!isHere) detachAll(work);
  dropRequests(work);
  loseCall(work);
  for (const run of work.state.tools.runs) {
    if (run.status !== "running") continue;
    const facts = agentOf(work).tools.find(({ name }) => name === run.name);
    // One that never lives to see its end may be what ends the bridge.
    const canRepeat = facts?.idempotent === true && run.attempt < MAX_ATTEMPTS;
    if (canRepeat && isStillAllowed(run, agentOf(work))) startTool(work, run);
    else askAbout(work, run, "outcome", ["done", "failed", "run-again"]);
  }
}

const MAX_ATTEMPTS = 3;

/** The rules may have changed since it was started; what somebody allowed by name stays allowed unless they deny it. */
function isStillAllowed(run: ToolRun, agent: AgentFacts): boolean {
  const { verdict } = judgeCall(run, agent);
  return verdict === "run" || (verdict === "ask" && run.approvalId !== undefined);
}
