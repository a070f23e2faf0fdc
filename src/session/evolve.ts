import type { AgentEvent } from "../domain/agent-event.ts";
import { isUnheard } from "../domain/call-fate.ts";
import type { Draft } from "../domain/envelope.ts";
import { lastReceipt } from "../domain/receipt.ts";
import { addUsage } from "../domain/usage.ts";
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
    isTitled: state.isTitled || isTitle(event),
    metadata: event.type === "session.metadata_changed" ? event.metadata : state.metadata,
    folders: event.type === "session.extended" ? event.folders : state.folders,
    mode: event.type === "session.configured" ? event.mode : state.mode,
    usage: usageWith(state, event),
    asked: askedWith(state, event),
    forgotten:
      event.type === "prompt.forgotten" ? [...state.forgotten, event.promptId] : state.forgotten,
    turn: evolveTurn(state.turn, draft, state.at),
    tools: evolveTools(state.tools, event, state.agent),
    approvals: evolveApprovals(state.approvals, event),
    clients: evolveClients(state.clients, event, draft.at),
    receipts: lastReceipt(state.receipts, event),
  };
}

function isTitle(event: AgentEvent): boolean {
  if (event.type === "session.opened") return event.title !== undefined;
  return event.type === "session.titled" || event.type === "prompt.accepted";
}

function usageWith({ usage: before }: SessionState, event: AgentEvent): SessionState["usage"] {
  if (event.type !== "turn.finished" || event.usage === null) return before;
  return before === null ? event.usage : addUsage(before, event.usage);
}

/** More than can wait at once, since what waits can be withdrawn. */
const MOST_ASKED = 128;

function askedWith({ asked, seq, turn }: SessionState, event: AgentEvent): SessionState["asked"] {
  switch (event.type) {
    case "prompt.accepted":
    case "results.given":
      return [...asked, { seq: seq + 1, promptId: event.promptId }].slice(-MOST_ASKED);
    case "prompt.withdrawn":
      return asked.filter(({ promptId }) => promptId !== event.promptId);
    case "turn.finished": {
      const promptId = turn.current?.promptId;
      return isUnheard(event) ? asked.filter((one) => one.promptId !== promptId) : asked;
    }
    default:
      return asked;
  }
}
