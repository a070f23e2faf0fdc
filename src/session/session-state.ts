import type { BudgetCaps } from "../domain/budget.ts";
import type { SessionMetadata } from "../domain/events/lifecycle-events.ts";
import { NO_RECEIPT, type LastReceipt } from "../domain/events/receipt.ts";
import { initialApprovals, type ApprovalsState } from "./approvals/approvals-state.ts";
import { initialArtifacts, type ArtifactsState } from "./artifacts/artifacts-state.ts";
import { initialBudgets, type BudgetsState } from "./budgets/budgets-state.ts";
import { initialClients, type ClientsState } from "./clients/clients-state.ts";
import { initialDaemon, type DaemonState } from "./daemon/daemon-state.ts";
import type { SessionLineage } from "../domain/workers/session-lineage.ts";
import type { SessionMode } from "../domain/session-mode.ts";
import type { Usage } from "../domain/usage.ts";
import type { ConfiguredAgent } from "./session-input.ts";
import { initialSteering, type SteeringState } from "./steering/steering-state.ts";
import { initialToolsState, type ToolsState } from "./tools/tools-state.ts";
import { initialTranscript, type TranscriptState } from "./transcript/transcript-state.ts";
import { initialTurnState, type TurnState } from "./turn/turn-state.ts";
import { initialWorkers, type WorkersState } from "./workers/workers-state.ts";
import { initialWatches, type WatchesState } from "./watches/watches-state.ts";

/** The state needed for decisions, folded from the log. Plain data, so it can be stored as a snapshot. */
export interface SessionState {
  readonly seq: number;
  /** Time of the last event, in milliseconds since 1970. */
  readonly at: number;
  /** Null before the session is opened. */
  readonly agent: ConfiguredAgent | null;
  readonly principal: string;
  /** True if a title was set, or derived from the first prompt. */
  readonly hasTitle: boolean;
  /** Set by callers. */
  readonly metadata: SessionMetadata;
  /** Workspace folders besides the working directory. */
  readonly folders: readonly string[];
  readonly mode: SessionMode;
  /** Tokens of all finished turns, as reported by providers. Null if none was reported. */
  readonly usage: Usage | null;
  /** The most recent prompts and submitted results. */
  readonly submittedPrompts: readonly SubmittedPrompt[];
  /** Prompts excluded from lookups by id. */
  readonly hiddenPromptIds: readonly string[];
  readonly turn: TurnState;
  readonly tools: ToolsState;
  readonly approvals: ApprovalsState;
  readonly clients: ClientsState;
  readonly steering: SteeringState;
  readonly budgets: BudgetsState;
  readonly daemon: DaemonState;
  readonly transcript: TranscriptState;
  readonly workers: WorkersState;
  /** Null unless the session belongs to a worker. */
  readonly lineage: SessionLineage | null;
  /** Caps of this session besides those of its agent. */
  readonly budgetCaps: BudgetCaps;
  readonly artifacts: ArtifactsState;
  readonly watches: WatchesState;
  readonly lastReceipt: LastReceipt;
}

/** Log position of a prompt or of submitted results. */
export interface SubmittedPrompt {
  readonly seq: number;
  readonly promptId: string;
}

/** Incremented whenever a snapshot of an older form could be misread or taken for damaged. */
export const STATE_VERSION = "28";

export const initialState: SessionState = {
  seq: 0,
  at: 0,
  agent: null,
  principal: "",
  hasTitle: false,
  metadata: {},
  folders: [],
  mode: "default",
  usage: null,
  submittedPrompts: [],
  hiddenPromptIds: [],
  turn: initialTurnState,
  tools: initialToolsState,
  approvals: initialApprovals,
  clients: initialClients,
  steering: initialSteering,
  budgets: initialBudgets,
  daemon: initialDaemon,
  transcript: initialTranscript,
  workers: initialWorkers,
  lineage: null,
  budgetCaps: {},
  artifacts: initialArtifacts,
  watches: initialWatches,
  lastReceipt: NO_RECEIPT,
};
