import type { AgentProfile } from "../../wire/acp/client/agent-profile.ts";
import {
  readAgentEvent,
  readUpdate,
  type ReceivedUpdate,
} from "../../wire/acp/client/read-update.ts";
import type { ReadResult } from "../../wire/acp/host/read-result.ts";
import type { RpcNotification } from "../../wire/jsonrpc/rpc-message.ts";
import type { Report } from "../connection/host-report.ts";

/** Reads what an agent tells. What is not known is passed over, and reported once. */
export function createUpdateReader(report: Report) {
  const reportedProblems = new Set<string>();

  function reportOnce(method: string, problem: string): void {
    const key = `${method} ${problem}`;
    if (reportedProblems.has(key) || reportedProblems.size >= MAX_REPORTED) return;
    reportedProblems.add(key);
    report("Something that the agent told was passed over", { method, problem });
  }

  /** Which names count is for the agent to say, at `initialize`. */
  return (
    { method, params }: RpcNotification,
    agent: AgentProfile | undefined,
  ): ReceivedUpdate | undefined => {
    const extensions = agent?.extensions ?? [];
    let reading: ReadResult<ReceivedUpdate> = { ok: false, problem: "the method is not known" };
    if (method === "session/update") reading = readUpdate(params, extensions);
    if (method === "_harn/agentEvent") reading = readAgentEvent(params, extensions);
    if (reading.ok) return reading.value;
    reportOnce(method, reading.problem);
    return undefined;
  };
}

const MAX_REPORTED = 1000;
