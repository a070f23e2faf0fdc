import type { ClientEditor } from "../tools/tool.ts";
import type { LiveAgent } from "./live-agent.ts";
import type { SessionState } from "./state.ts";

/** The editor that a call is for: that of whoever prompted, else the controller's. */
export function editorOf(
  { turn, clients }: Pick<SessionState, "turn" | "clients">,
  live: Pick<LiveAgent, "editorOf">,
): ClientEditor | undefined {
  for (const clientId of [turn.current?.by?.clientId, clients.controller]) {
    const offer = typeof clientId === "string" ? live.editorOf(clientId) : undefined;
    if (typeof clientId === "string" && offer !== undefined) return { clientId, ...offer };
  }
  return undefined;
}
