import type { BudgetReached } from "../../domain/events/budget-events.ts";
import { NO_CLIENTS, type ClientRegistry } from "../../domain/live-client.ts";
import type { SessionView } from "./session-view.ts";

/** A view together with the facts for the rules of later events. */
export interface SessionFold extends SessionView {
  readonly facts: FoldFacts;
}

export interface FoldFacts {
  readonly clients: ClientRegistry;
  /** The budget reached last. */
  readonly budget: BudgetReached | null;
  /** The title was set. Without a set title, the first prompt names the session. */
  readonly hasTitle: boolean;
  readonly isInvoking: boolean;
  /** The turn waits for results from the prompter. */
  readonly isPaused: boolean;
  /** Keys of texts and thoughts which are still streaming. */
  readonly streaming: readonly string[];
  /** Tool calls of the running turn which have not ended. */
  readonly openTools: readonly string[];
  /** Tool calls which are running. */
  readonly runningTools: readonly string[];
}

const NO_FACTS: FoldFacts = {
  clients: NO_CLIENTS,
  budget: null,
  hasTitle: false,
  isInvoking: false,
  isPaused: false,
  streaming: [],
  openTools: [],
  runningTools: [],
};

/** The view of a session before its first event. */
export function createSessionFold(sessionId: string): SessionFold {
  return {
    sessionId,
    seq: 0,
    updatedAt: 0,
    title: null,
    agent: "",
    agentSpec: null,
    owner: null,
    lineage: null,
    workingDirectory: null,
    folders: [],
    mode: "default",
    turns: [],
    queue: [],
    openApprovals: [],
    clients: [],
    controller: null,
    plan: [],
    planDetails: null,
    artifactCount: 0,
    workerCount: 0,
    grants: [],
    usage: null,
    facts: NO_FACTS,
  };
}
