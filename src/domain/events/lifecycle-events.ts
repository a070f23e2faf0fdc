import type { AgentSpec } from "../agent-spec.ts";
import type { BudgetCaps } from "../budget.ts";
import type { ModelMessage } from "../model/model-request.ts";
import type { SessionLineage } from "../workers/session-lineage.ts";
import type { SessionMode } from "../session-mode.ts";

/** Events of the slice `session`: properties of the session outside its turns. */
export type LifecycleEvent =
  | SessionOpened
  | SessionFoldersChanged
  | AgentConfigured
  | SessionRecovered
  | SessionTitleChanged
  | SessionMetadataChanged
  | SessionModeChanged
  | HistoryImported;

export interface SessionOpened {
  readonly type: "session.opened";
  readonly agent: string;
  /** Owner of the session. */
  readonly principal: string;
  readonly title?: string;
  readonly workingDirectory?: string;
  /** Label set by the opener, for finding the session again. */
  readonly label?: string;
  /**
   * Id of the first upstream session, which may already exist at the provider. Absent if the opener did not set one.
   */
  readonly upstreamId?: string;
  /** Present if the session belongs to a worker. */
  readonly lineage?: SessionLineage;
  /** Caps of this session besides those of its agent. */
  readonly budget?: BudgetCaps;
}

/** Replaces the workspace folders besides the working directory. */
export interface SessionFoldersChanged {
  readonly type: "session.folders_changed";
  /** Absolute paths. */
  readonly folders: readonly string[];
}

/** The agent's definition from here on. Logged in full, so a replay of the log reaches the same decisions. */
export interface AgentConfigured {
  readonly type: "agent.configured";
  readonly digest: string;
  readonly spec: AgentSpec;
}

/** Another process owned the session and did not close it. */
export interface SessionRecovered {
  readonly type: "session.recovered";
  readonly epoch: number;
}

export interface SessionTitleChanged {
  readonly type: "session.title_changed";
  readonly title: string;
}

/** Replaces the caller's metadata of the session. */
export interface SessionMetadataChanged {
  readonly type: "session.metadata_changed";
  readonly metadata: SessionMetadata;
}

export type SessionMetadata = { readonly [name: string]: string };

/** Changes the session mode from here on. The envelope names the actor. */
export interface SessionModeChanged {
  readonly type: "session.mode_changed";
  readonly mode: SessionMode;
}

/** Messages from another conversation, sent to the agent before the next prompt. */
export interface HistoryImported {
  readonly type: "history.imported";
  readonly messages: readonly ModelMessage[];
}
