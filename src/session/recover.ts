import type { AgentSpec } from "../domain/agent-spec.ts";
import { invalidateApprovals } from "./approvals/approval-requests.ts";
import { configureAgent } from "./configure-agent.ts";
import { detachAllClients } from "./clients/attach-client.ts";
import { dropHostRequests } from "./clients/host-requests.ts";
import type { TimedInput } from "./session-input.ts";
import { requestOutcome, startTool } from "./tools/advance-tools.ts";
import { extendHostWait, waitForHost } from "./tools/host-waits.ts";
import { isStillAllowed } from "./tools/evaluate-rules.ts";
import { isUnsettled } from "./tools/tools-state.ts";
import { loseInvocation } from "./turn/apply-provider-events.ts";
import { readAgentSpec, type Decision } from "./decision.ts";

type RecoverInput = Extract<TimedInput, { readonly type: "recovery-started" }>;

/** Takes over from a process that is gone: its calls are lost, its tools are settled, its connections are closed. */
export function recover(
  decision: Decision,
  { epoch, agent, isSameProcess = false, invalidReceiptSeq }: RecoverInput,
): void {
  const { turn, clients, tools } = decision.state;
  const hasLostClients = !isSameProcess && clients.attached.length > 0;
  const isBusy = turn.current !== null || hasLostClients || tools.processes.length > 0;
  // Before anything else: the time since the event before it was nobody's.
  if (isBusy) decision.emit({ type: "session.recovered", epoch });
  // A question that is withdrawn because its receipts are doubted is asked again: its call gave up its place among those
  // that run, so it is neither restarted nor awaited.
  const unsettled = new Set(tools.runs.filter(isUnsettled).map(({ toolCallId }) => toolCallId));
  if (invalidReceiptSeq !== undefined) invalidateApprovals(decision, invalidReceiptSeq);
  // What clients brought is in the definition of before.
  waitForHostTools(decision, agent?.spec, unsettled);
  if (agent !== undefined) configureAgent(decision, agent);
  if (!isBusy) return;
  if (!isSameProcess) detachAllClients(decision);
  dropHostRequests(decision);
  loseInvocation(decision);
  for (const run of decision.state.tools.runs) {
    if (run.status !== "running") continue;
    const facts = readAgentSpec(decision).tools.find(({ name }) => name === run.name);
    // One that never lives to see its end may be what ends the bridge.
    const canRepeat = facts?.idempotent === true && run.attempt < MAX_ATTEMPTS;
    const wasUnsettled = unsettled.has(run.toolCallId);
    if (!wasUnsettled && canRepeat && isStillAllowed(decision, run)) startTool(decision, run);
    else requestOutcome(decision, run);
  }
}

const MAX_ATTEMPTS = 3;

/** Tools of clients that are not there yet, and that know their calls again. */
function waitForHostTools(
  decision: Decision,
  nextSpec: AgentSpec | undefined,
  unsettled: ReadonlySet<string>,
): void {
  for (const run of decision.state.tools.runs) {
    if (run.status === "waiting-for-host") extendHostWait(decision, run);
    const { tools } = nextSpec ?? readAgentSpec(decision);
    if (run.status !== "running" || unsettled.has(run.toolCallId)) continue;
    if (tools.some(({ name }) => name === run.name)) continue;
    waitForHost(decision, run, "kill");
  }
}
