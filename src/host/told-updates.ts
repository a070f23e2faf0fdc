import type { AgentProfile } from "../wire/acp/client/agent-profile.ts";
import { readAgentEvent, readUpdate, type ToldUpdate } from "../wire/acp/client/read-update.ts";
import type { Reading } from "../wire/acp/host/reading.ts";
import type { RpcNotification } from "../wire/jsonrpc/rpc-message.ts";
import type { Report } from "./report.ts";

/** Reads what an agent tells. What is not known is passed over, and reported once. */
export function toldUpdates(report: Report) {
  const passedOver = new Set<string>();

  function note(method: string, problem: string): void {
    const key = `${method} ${problem}`;
    if (passedOver.has(key) || passedOver.size >= MOST_NOTED) return;
    passedOver.add(key);
    report("Something that the agent told was passed over", { method, problem });
  }

  /** Which names count is for the agent to say, at `initialize`. */
  return (
    { method, params }: RpcNotification,
    agent: AgentProfile | undefined,
  ): ToldUpdate | undefined => {
    const extensions = agent?.extensions ?? [];
    let reading: Reading<ToldUpdate> = { ok: false, problem: "the method is not known" };
    if (method === "session/update") reading = readUpdate(params, extensions);
    if (method === "_harn/agentEvent") reading = readAgentEvent(params, extensions);
    if (reading.ok) return reading.value;
    note(method, reading.problem);
    return undefined;
  };
}

const MOST_NOTED = 1000;
