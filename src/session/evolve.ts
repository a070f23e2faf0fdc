import { EVENT_MANIFEST, type SliceEvents } from "../domain/events/event-manifest.ts";
import type { SessionEvent } from "../domain/events/session-event.ts";
import { isTurnRejected } from "../domain/provider/invocation-outcome.ts";
import type { Draft } from "../domain/events/envelope.ts";
import { evolveLastReceipt } from "../domain/events/receipt.ts";
import { addUsage } from "../domain/usage.ts";
import { evolveApprovals } from "./approvals/approvals-state.ts";
import { evolveArtifacts } from "./artifacts/artifacts-state.ts";
import { evolveBudgets } from "./budgets/evolve-budgets.ts";
import { evolveClients } from "./clients/clients-state.ts";
import { evolveDaemon } from "./daemon/daemon-state.ts";
import type { SessionState } from "./session-state.ts";
import { evolveSteering } from "./steering/steering-state.ts";
import { evolveTools } from "./tools/evolve-tools.ts";
import { evolveTranscript } from "./transcript/transcript-state.ts";
import { evolveTurn } from "./turn/evolve-turn.ts";
import { evolveWorkers } from "./workers/workers-state.ts";
import { evolveWatches } from "./watches/watches-state.ts";

/** Applies an event of the log to the state. Deterministic: the same log always produces the same state. */
export function evolve(state: SessionState, draft: Draft): SessionState {
  const { event } = draft;
  // These slices read their own events only.
  const approvals = isOwnEvent(event, "approvals")
    ? evolveApprovals(state.approvals, event, state.seq + 1)
    : state.approvals;
  const clients = isOwnEvent(event, "clients")
    ? evolveClients(state.clients, event, draft.at)
    : state.clients;
  const workers = isOwnEvent(event, "workers")
    ? evolveWorkers(state.workers, event, draft)
    : state.workers;
  const artifacts = isOwnEvent(event, "artifacts")
    ? evolveArtifacts(state.artifacts, event)
    : state.artifacts;
  const watches = isOwnEvent(event, "watches")
    ? evolveWatches(state.watches, event)
    : state.watches;
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
    turn: evolveTurn(state.turn, draft, state),
    tools: evolveTools(state.tools, event, state.agent),
    approvals,
    clients,
    steering: evolveSteering(state.steering, draft, state.seq + 1),
    budgets: evolveBudgets(state.budgets, draft, state),
    daemon: evolveDaemon(state.daemon, draft),
    transcript: evolveTranscript(state.transcript, draft),
    workers,
    lineage: event.type === "session.opened" ? (event.lineage ?? null) : state.lineage,
    budgetCaps: event.type === "session.opened" ? (event.budget ?? {}) : state.budgetCaps,
    artifacts,
    watches,
    lastReceipt: evolveLastReceipt(state.lastReceipt, event),
  };
}

function isOwnEvent<Slice extends keyof SliceEvents>(
  event: SessionEvent,
  slice: Slice,
): event is SliceEvents[Slice] {
  return EVENT_MANIFEST[event.type].slice === slice;
}

function setsTitle(event: SessionEvent): boolean {
  if (event.type === "session.opened") return event.title !== undefined;
  return event.type === "session.title_changed" || event.type === "prompt.accepted";
}

function evolveUsage(
  { usage: previousUsage }: SessionState,
  event: SessionEvent,
): SessionState["usage"] {
  const usage = readUsage(event);
  if (usage === null) return previousUsage;
  return previousUsage === null ? usage : addUsage(previousUsage, usage);
}

function readUsage(event: SessionEvent): SessionState["usage"] {
  switch (event.type) {
    case "turn.finished":
    case "transcript.compacted":
      return event.usage;
    case "compaction.ended":
      return event.usage ?? null;
    default:
      return null;
  }
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
