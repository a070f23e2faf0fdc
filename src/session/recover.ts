import type { AgentFacts } from "../domain/agent-event.ts";
import { doubtApprovals } from "./approvals/doubt.ts";
import { bindAgent } from "./bind-agent.ts";
import { detachAll } from "./clients/attach-client.ts";
import { dropRequests } from "./clients/host-requests.ts";
import type { Input } from "./input.ts";
import { askWhatCame, startTool } from "./tools/advance-tools.ts";
import { awaitAgain, awaitClient } from "./tools/awaited-calls.ts";
import { isStillAllowed } from "./tools/rule-on.ts";
import { isUnsettled } from "./tools/tools-state.ts";
import { loseCall } from "./turn/call-said.ts";
import { agentOf, type Work } from "./work.ts";

type Recovered = Extract<Input, { readonly type: "recovered" }>;

/** Takes over from a process that is gone: its calls are lost, its tools are settled, its connections are closed. */
export function recover(work: Work, { epoch, agent, isHere = false, doubt }: Recovered): void {
  const { turn, clients, tools } = work.state;
  const isLeft = !isHere && clients.attached.length > 0;
  const isBusy = turn.current !== null || isLeft || tools.programs.length > 0;
  // Before anything else: the time since the event before it was nobody's.
  if (isBusy) work.emit({ type: "session.recovered", epoch });
  // A question that is withdrawn because its receipts are doubted is asked again: its call gave up its place among those
  // that run, so it is neither restarted nor awaited.
  const unsettled = new Set(tools.runs.filter(isUnsettled).map(({ toolCallId }) => toolCallId));
  if (doubt !== undefined) doubtApprovals(work, doubt);
  // What clients brought is in the definition of before.
  awaitClients(work, agent?.facts, unsettled);
  if (agent !== undefined) bindAgent(work, agent);
  if (!isBusy) return;
  if (!isHere) detachAll(work);
  dropRequests(work);
  loseCall(work);
  for (const run of work.state.tools.runs) {
    if (run.status !== "running") continue;
    const facts = agentOf(work).tools.find(({ name }) => name === run.name);
    // One that never lives to see its end may be what ends the bridge.
    const canRepeat = facts?.idempotent === true && run.attempt < MAX_ATTEMPTS;
    const isAsked = unsettled.has(run.toolCallId);
    if (!isAsked && canRepeat && isStillAllowed(work, run)) startTool(work, run);
    else askWhatCame(work, run);
  }
}

const MAX_ATTEMPTS = 3;

/** Tools of clients that are not there yet, and that know their calls again. */
function awaitClients(
  work: Work,
  now: AgentFacts | undefined,
  unsettled: ReadonlySet<string>,
): void {
  for (const run of work.state.tools.runs) {
    if (run.status === "awaited") awaitAgain(work, run);
    const { tools } = now ?? agentOf(work);
    if (run.status !== "running" || unsettled.has(run.toolCallId)) continue;
    if (tools.some(({ name }) => name === run.name)) continue;
    awaitClient(work, run, "kill");
  }
}
