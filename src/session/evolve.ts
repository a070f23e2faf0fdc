import type { SessionEvent } from "../domain/events/session-event.ts";
import { isTurnRejected } from "../domain/provider/invocation-outcome.ts";
import type { Draft } from "../domain/events/envelope.ts";
import { evolveLastReceipt } from "../domain/events/receipt.ts";
import { addUsage } from "../domain/usage.ts";
import { evolveApprovals } from "./approvals/approvals-state.ts";
import { evolveClients } from "./clients/clients-state.ts";
import type { SessionState } from "./session-state.ts";
import { evolveTools } from "./tools/evolve-tools.ts";
import { evolveTurn } from "./turn/evolve-turn.ts";

/** Applies an event of the log to the state. Deterministic: the same log always produces the same state. */
export function evolve(state: SessionState, draft: Draft): SessionState {
  const { event } = draft;
  return {
    seq: state.seq + 1,
    at: draft.at,
    agent:
      event.type === "agent.configured" ? { digest: event.digest, spec: event.spec } : state.agent,
    principal: event.type === "session.opened" ? event.principal : state.principal,
    hasTitle: state.hasTitle || setsTitle(event),
    metadata: event.type === "session.metadata_changed" ? event.metadata : state.metadata,
    folders: event.type === "session.folders_changed" ? event.folders : state.folders,
    mode: event.type === "session.mode_changed" ? event.mode : state.mode,
    usage: evolveUsage(state, event),
    submittedPrompts: evolveSubmittedPrompts(state, event),
    hiddenPromptIds:
      event.type === "prompt.hidden"
        ? [...state.hiddenPromptIds, event.promptId]
        : state.hiddenPromptIds,
    turn: evolveTurn(state.turn, draft, state.at),
    tools: evolveTools(state.tools, event, state.agent),
    approvals: evolveApprovals(state.approvals, event),
    clients: evolveClients(state.clients, event, draft.at),
    lastReceipt: evolveLastReceipt(state.lastReceipt, event),
  };
}

function setsTitle(event: SessionEvent): boolean {
  if (event.type === "session.opened") return event.title !== undefined;
  return event.type === "session.title_changed" || event.type === "prompt.accepted";
}

function evolveUsage(
  { usage: previousUsage }: SessionState,
  event: SessionEvent,
): SessionState["usage"] {
  if (event.type !== "turn.finished" || event.usage === null) return previousUsage;
  return previousUsage === null ? event.usage : addUsage(previousUsage, event.usage);
}

/** Larger than the prompt queue, because queued prompts can be withdrawn. */
const MAX_SUBMITTED_PROMPTS = 128;

function evolveSubmittedPrompts(
  { submittedPrompts, seq, turn }: SessionState,
  event: SessionEvent,
): SessionState["submittedPrompts"] {
  switch (event.type) {
    case "prompt.accepted":
    case "tool_results.submitted":
      return [...submittedPrompts, { seq: seq + 1, promptId: event.promptId }].slice(
        -MAX_SUBMITTED_PROMPTS,
      );
    case "prompt.withdrawn":
      return submittedPrompts.filter(({ promptId }) => promptId !== event.promptId);
    case "turn.finished": {
      const promptId = turn.current?.promptId;
      return isTurnRejected(event)
        ? submittedPrompts.filter((prompt) => prompt.promptId !== promptId)
        : submittedPrompts;
    }
    default:
      return submittedPrompts;
  }
}
