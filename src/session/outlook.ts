import { liveClients } from "../domain/live-client.ts";
import { unknownSession } from "./begin-driver.ts";
import type { Outlook } from "./sessions.ts";
import type { SessionState } from "./state.ts";

/** What others may want to know of a session before they ask something of it. */
export function outlookOf(state: SessionState, sessionId: string): Outlook {
  const { agent, mode, metadata, usage, asked, forgotten, turn, clients, approvals } = state;
  if (agent === null) throw unknownSession(sessionId);
  return {
    agent: agent.facts,
    mode,
    metadata,
    usage,
    grants: approvals.grants,
    asked: asked.at(-1) ?? null,
    pausedFor: turn.current?.pause?.toolCallIds ?? [],
    promptTools: turn.current?.options?.tools?.map(({ name }) => name) ?? [],
    forgotten,
    clients: liveClients(clients),
  };
}
