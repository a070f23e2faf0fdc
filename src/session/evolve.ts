import type { Draft } from "../domain/envelope.ts";
import { lastReceipt } from "../domain/receipt.ts";
import { evolveApprovals } from "./approvals/approvals-state.ts";
import { evolveClients } from "./clients/clients-state.ts";
import type { SessionState } from "./state.ts";
import { evolveTools } from "./tools/evolve-tools.ts";
import { evolveTurn } from "./turn/evolve-turn.ts";

/** The state after one more event of the log. The same log always gives the same state. */
export function evolve(state: SessionState, draft: Draft): SessionState {
  const { event } = draft;
  return {
    seq: state.seq + 1,
    at: draft.at,
    agent:
      event.type === "agent.bound"
        ? { digest: event.digest, facts: event.definition }
        : state.agent,
    principal: event.type === "session.opened" ? event.principal : state.principal,
    turn: evolveTurn(state.turn, draft, state.at),
    tools: evolveTools(state.tools, event, state.agent),
    approvals: evolveApprovals(state.approvals, event),
    clients: evolveClients(state.clients, event, draft.at),
    receipts: lastReceipt(state.receipts, event),
  };
}
