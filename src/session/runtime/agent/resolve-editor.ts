import type { ClientEditor } from "../../../tools/tool.ts";
import type { LiveAgent } from "./live-agent.ts";
import type { SessionState } from "../../session-state.ts";

/** The editor that a call is for: that of whoever prompted, else the controller's. */
export function resolveEditor(
  { turn, clients }: Pick<SessionState, "turn" | "clients">,
  liveAgent: Pick<LiveAgent, "findEditor">,
): ClientEditor | undefined {
  for (const clientId of [turn.current?.submitter?.clientId, clients.controller]) {
    const offer = typeof clientId === "string" ? liveAgent.findEditor(clientId) : undefined;
    if (typeof clientId === "string" && offer !== undefined) return { clientId, ...offer };
  }
  return undefined;
}
