import { dropRequests } from "./clients/host-requests.ts";
import type { Input } from "./input.ts";
import { askAbout, startTool } from "./tools/advance-tools.ts";
import { closeStream } from "./turn/close-stream.ts";
import { agentOf, type Work } from "./work.ts";

type Recovered = Extract<Input, { readonly type: "recovered" }>;

/** Takes over from a process that is gone: its calls are lost, its tools are settled, its connections are closed. */
export function recover(work: Work, { epoch, agent }: Recovered): void {
  if (agent !== undefined) {
    work.emit({ type: "agent.bound", digest: agent.digest, definition: agent.facts });
  }
  const { turn, clients } = work.state;
  const isBusy = turn.current !== null || clients.attached.length > 0;
  if (!isBusy) return;
  work.emit({ type: "session.recovered", epoch });
  for (const { clientId } of clients.attached) {
    work.emit({ type: "client.detached", clientId, reason: "bridge_restarted" });
  }
  if (clients.controller !== null) {
    work.emit({ type: "control.passed", from: clients.controller, to: null });
  }
  dropRequests(work);
  const stage = turn.current?.stage;
  if (stage?.type === "calling") {
    closeStream(work, stage.call, "The connection to the agent was lost");
    work.emit({ type: "call.lost", callId: stage.call.callId });
  }
  for (const run of work.state.tools.runs) {
    if (run.status !== "running") continue;
    const facts = agentOf(work).tools.find(({ name }) => name === run.name);
    if (facts?.idempotent === true) startTool(work, run);
    else askAbout(work, run, "outcome", ["done", "failed", "run-again"]);
  }
}
