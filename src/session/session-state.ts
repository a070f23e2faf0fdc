import type { SessionMetadata } from "../domain/events/lifecycle-events.ts";
import { NO_RECEIPT, type LastReceipt } from "../domain/events/receipt.ts";
import { initialApprovals, type ApprovalsState } from "./approvals/approvals-state.ts";
import { initialClients, type ClientsState } from "./clients/clients-state.ts";
import type { SessionMode } from "../domain/session-mode.ts";
import type { Usage } from "../domain/usage.ts";
import type { ConfiguredAgent } from "./session-input.ts";
import { initialToolsState, type ToolsState } from "./tools/tools-state.ts";
import { initialTurnState, type TurnState } from "./turn/turn-state.ts";

/** Everything that deciding needs, folded from the log. Plain data, so that it can be kept as a snapshot. */
export interface SessionState {
  readonly seq: number;
  /** When the last event was written, in milliseconds since 1970. */
  readonly at: number;
  /** Null before the session is opened. */
  readonly agent: ConfiguredAgent | null;
  readonly principal: string;
  /** Somebody gave it a title, or its first prompt did. */
  readonly hasTitle: boolean;
  /** The caller's own facts about it. */
  readonly metadata: SessionMetadata;
  /** That belong to the workspace beside the session's own. */
  readonly folders: readonly string[];
  readonly mode: SessionMode;
  /** Of the turns that have ended, as far as their providers said. */
  readonly usage: Usage | null;
  /** Prompts and results that came, the last ones. */
  readonly submittedPrompts: readonly SubmittedPrompt[];
  /** Prompts that nobody is to find any more. */
  readonly hiddenPromptIds: readonly string[];
  readonly turn: TurnState;
  readonly tools: ToolsState;
  readonly approvals: ApprovalsState;
  readonly clients: ClientsState;
  readonly lastReceipt: LastReceipt;
}

/** Where the log has something that was asked. */
export interface SubmittedPrompt {
  readonly seq: number;
  readonly promptId: string;
}

/** Changed whenever a snapshot of an older form could be misread, or taken for a damaged one. */
export const STATE_VERSION = "20";

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
  lastReceipt: NO_RECEIPT,
};
