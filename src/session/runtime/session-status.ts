import { listItems } from "../../data/chunked-list.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { listLiveClients } from "../../domain/live-client.ts";
import type { LogStore } from "../../store/log-store.ts";
import type { PendingApproval } from "../approvals/approvals-state.ts";
import type { SessionState } from "../session-state.ts";
import type { OpenApproval, SessionStatus } from "../sessions.ts";
import { createUnknownSessionError } from "./open-driver.ts";

/** Collects the status of a session from its state, and the open requests from its log. */
export async function readSessionStatus(
  state: SessionState,
  sessionId: string,
  store: Pick<LogStore, "read">,
): Promise<SessionStatus> {
  const { agent, mode, metadata, usage, submittedPrompts, hiddenPromptIds } = state;
  const { turn, clients, approvals, steering, workers } = state;
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
    pendingInjections: listItems(steering.pending),
    workers: workers.open,
    openApprovals: await readOpenApprovals(approvals.pending, sessionId, store),
  };
}

async function readOpenApprovals(
  pending: readonly PendingApproval[],
  sessionId: string,
  store: Pick<LogStore, "read">,
): Promise<readonly OpenApproval[]> {
  const readEvent = async (seq: number): Promise<Envelope | undefined> =>
    (await store.read(sessionId, seq - 1, 1))[0];
  const open: OpenApproval[] = [];
  for (const { seq, votes } of pending) {
    const requested = await readEvent(seq);
    if (requested?.event.type !== "approval.requested") continue;
    const voteEvents = await Promise.all(votes.map((vote) => readEvent(vote.seq)));
    open.push({
      requestedAt: requested.at,
      request: requested.event,
      votes: voteEvents.flatMap((vote) =>
        vote?.event.type === "approval.voted" ? [vote.event] : [],
      ),
    });
  }
  return open;
}
