import { listLiveClients } from "../../domain/live-client.ts";
import { createUnknownSessionError } from "./open-driver.ts";
import type { SessionStatus } from "../sessions.ts";
import type { SessionState } from "../session-state.ts";

/** What others may want to know of a session before they ask something of it. */
export function readSessionStatus(state: SessionState, sessionId: string): SessionStatus {
  const {
    agent,
    mode,
    metadata,
    usage,
    submittedPrompts,
    hiddenPromptIds,
    turn,
    clients,
    approvals,
  } = state;
  if (agent === null) throw createUnknownSessionError(sessionId);
  return {
    agent: agent.spec,
    mode,
    metadata,
    usage,
    grants: approvals.grants,
    lastPrompt: submittedPrompts.at(-1) ?? null,
    pendingToolCallIds: turn.current?.pause?.toolCallIds ?? [],
    promptTools: turn.current?.options?.tools?.map(({ name }) => name) ?? [],
    hiddenPromptIds,
    clients: listLiveClients(clients),
  };
}
