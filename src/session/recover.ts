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
import { repeatCompaction } from "./transcript/compaction-steps.ts";
import { isWaitingForWorker } from "./tools/worker-calls.ts";
import { loseInvocation } from "./turn/apply-provider-events.ts";
import { readAgentSpec, type Decision } from "./decision.ts";

type RecoverInput = Extract<TimedInput, { readonly type: "recovery-started" }>;

/**
 * Takes over a session from a process that has exited: its open invocation is lost, its running tools are restarted or
 * asked about, its clients are detached.
 */
export function recover(
  decision: Decision,
  { epoch, agent, isSameProcess = false, invalidReceiptSeq }: RecoverInput,
): void {
  const { turn, clients, tools, transcript } = decision.state;
  const hasLostClients = !isSameProcess && clients.attached.length > 0;
  const isWorking = turn.current !== null || transcript.running !== null;
  const isBusy = isWorking || hasLostClients || tools.processes.length > 0;
  // Emitted first: the time since the previous event is downtime, not turn time.
  if (isBusy) decision.emit({ type: "session.recovered", epoch });
  // Collected first, because `invalidateApprovals` withdraws these outcome requests and sets their tool calls back to
  // `running`. They need a new request, not a restart or a wait.
  const unsettled = new Set(tools.runs.filter(isUnsettled).map(({ toolCallId }) => toolCallId));
  if (invalidReceiptSeq !== undefined) invalidateApprovals(decision, invalidReceiptSeq);
  // Runs before `configureAgent`: only the previous definition contains the client tools.
  waitForHostTools(decision, agent?.spec, unsettled);
  if (agent !== undefined) configureAgent(decision, agent);
  if (!isBusy) return;
  if (!isSameProcess) detachAllClients(decision);
  dropHostRequests(decision);
  loseInvocation(decision);
  repeatCompaction(decision);
  for (const run of decision.state.tools.runs) {
    // The worker continues by itself.
    if (run.status !== "running" || isWaitingForWorker(decision, run)) continue;
    const facts = readAgentSpec(decision).tools.find(({ name }) => name === run.name);
    // A tool interrupted by every restart may itself crash the bridge, so attempts are limited.
    const canRepeat = facts?.idempotent === true && run.attempt < MAX_ATTEMPTS;
    const wasUnsettled = unsettled.has(run.toolCallId);
    if (!wasUnsettled && canRepeat && isStillAllowed(decision, run)) startTool(decision, run);
    else requestOutcome(decision, run);
  }
}

const MAX_ATTEMPTS = 3;

/** Waits for tools of clients which have not reconnected yet, if their hosts deduplicate calls. */
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
    if (isWaitingForWorker(decision, run)) continue;
    waitForHost(decision, run, "kill");
  }
}
