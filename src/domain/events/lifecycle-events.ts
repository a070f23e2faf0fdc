import type { AgentSpec } from "../agent-spec.ts";
import type { ModelMessage } from "../model/model-request.ts";
import type { SessionMode } from "../session-mode.ts";

/** Events of the slice `session`: what the session is, apart from its turns. */
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
  /** Whose session it is. */
  readonly principal: string;
  readonly title?: string;
  readonly workingDirectory?: string;
  /** The opener's own word, by which the session can be found again. */
  readonly label?: string;
  /** Under which its first conversation is on the provider's side, where that was said: it may be there already. */
  readonly upstreamId?: string;
}

/** Folders that belong to the workspace beside the session's own, in place of those before. */
export interface SessionFoldersChanged {
  readonly type: "session.folders_changed";
  /** Absolute paths. */
  readonly folders: readonly string[];
}

/** The definition that holds from here on, so that reading the log again decides as it was decided. */
export interface AgentConfigured {
  readonly type: "agent.configured";
  readonly digest: string;
  readonly spec: AgentSpec;
}

/** Another process had the session and did not close it. */
export interface SessionRecovered {
  readonly type: "session.recovered";
  readonly epoch: number;
}

export interface SessionTitleChanged {
  readonly type: "session.title_changed";
  readonly title: string;
}

/** The caller's own facts about the session, in place of those before. */
export interface SessionMetadataChanged {
  readonly type: "session.metadata_changed";
  readonly metadata: SessionMetadata;
}

export type SessionMetadata = { readonly [name: string]: string };

/** From here on the session is in this mode; the envelope says who wanted it. */
export interface SessionModeChanged {
  readonly type: "session.mode_changed";
  readonly mode: SessionMode;
}

/** What was said elsewhere before this session: the agent is told it first. */
export interface HistoryImported {
  readonly type: "history.imported";
  readonly messages: readonly ModelMessage[];
}
