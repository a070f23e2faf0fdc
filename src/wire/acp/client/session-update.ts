import type { Failure } from "../../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../../data/json.ts";
import type { FileDiff, FileLocation } from "../../../domain/tools/tool-output.ts";
import type { Executor } from "../../../domain/tools/tool-traits.ts";
import type { PromptResult } from "./agent-results.ts";
import type { ConfigOption } from "./session-settings.ts";

/** A decoded update of a session. Unknown updates are ignored and have no type here. */
export type SessionUpdate =
  | TextUpdate
  | ToolUpdate
  | PlanUpdate
  | CommandsUpdate
  | ModeUpdate
  | OptionsUpdate
  | InfoUpdate
  | UsageUpdate
  | WorkerUpdate
  | ExtensionUpdate;

export interface TextUpdate {
  readonly type: "user-text" | "agent-text" | "agent-thought";
  /** Null if the agent does not send message ids. */
  readonly messageId: string | null;
  /** The text of all content blocks. Empty for an image. */
  readonly text: string;
  /** The unparsed content blocks. */
  readonly content: readonly JsonObject[];
  /**
   * The visible text of this chunk; `visibleText` is the visible text of the message so far. Absent if the agent does
   * not separate visible text from markup.
   */
  readonly visibleDelta?: string;
  readonly visibleText?: string;
}

/** An update of a tool call. An absent field is unchanged; a list replaces the previous list. */
export interface ToolUpdate {
  readonly type: "tool";
  readonly toolCallId: string;
  /** True for `tool_call`, which opens a tool call; false for `tool_call_update`. */
  readonly isNew: boolean;
  readonly title?: string;
  readonly kind?: string;
  readonly status?: ToolStatus;
  readonly content?: readonly ToolUpdateContent[];
  readonly locations?: readonly FileLocation[];
  readonly input?: JsonValue;
  readonly output?: JsonValue;
  readonly bridge: BridgeFields;
}

export const TOOL_STATUSES = ["pending", "in_progress", "completed", "failed"] as const;

export type ToolStatus = (typeof TOOL_STATUSES)[number];

export type ToolUpdateContent =
  | { readonly type: "text"; readonly text: string }
  | ({ readonly type: "diff" } & FileDiff)
  | { readonly type: "terminal"; readonly terminalId: string }
  /** An image, a link, or content of a later ACP version. */
  | { readonly type: "other"; readonly content: JsonObject };

/** Fields of a tool call from a bridge, in addition to ACP's fields. */
export interface BridgeFields {
  /** The mutation record of the session. Absent without a mutation scope. */
  readonly audit?: JsonObject;
  readonly executor?: Executor;
  readonly durationMs?: number;
  readonly executionDurationMs?: number;
  readonly error?: JsonValue;
  readonly errorCategory?: string;
  /** True while the arguments are streaming; `partialInput` has the arguments received so far. */
  readonly parsing?: boolean;
  readonly partialInput?: JsonValue;
}

export interface PlanUpdate {
  readonly type: "plan";
  /** The whole plan, which replaces the previous plan. */
  readonly entries: readonly PlanEntry[];
  /** The plan in the form `harn.plan.v1`. Absent if the agent sent entries only. */
  readonly plan?: JsonObject;
}

export interface PlanEntry {
  readonly content: string;
  readonly priority: string;
  readonly status: string;
}

export interface CommandsUpdate {
  readonly type: "commands";
  readonly commands: readonly AvailableCommand[];
}

export interface AvailableCommand {
  readonly name: string;
  readonly description: string;
  /** A hint for the command's argument. Absent if the command has none. */
  readonly hint?: string;
}

export interface ModeUpdate {
  readonly type: "mode";
  readonly modeId: string;
}

export interface OptionsUpdate {
  readonly type: "options";
  /** All config options of the session. */
  readonly options: readonly ConfigOption[];
}

export interface InfoUpdate {
  readonly type: "info";
  /** Null if the title was removed. Absent if the title is unchanged. */
  readonly title?: string | null;
  readonly updatedAt?: string | null;
  /** The end of a turn. Sent by bridges only. */
  readonly turn?: TurnEndInfo;
}

/** The end of a turn, whichever client sent its prompt. */
export interface TurnEndInfo {
  readonly turnId: string;
  /** The client that sent the prompt. Null if unknown. */
  readonly clientId: string | null;
  readonly end:
    | { readonly type: "done"; readonly result: PromptResult }
    | { readonly type: "failed"; readonly failure: Failure };
}

export interface UsageUpdate {
  readonly type: "usage";
  /** Tokens in the agent's context; `size` is the size of the context window. */
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** A transition of a worker of the session. */
export interface WorkerUpdate {
  readonly type: "worker";
  readonly workerId: string;
  readonly name: string;
  readonly task: string;
  readonly mode: string;
  /** Such as `WorkerSpawned`. */
  readonly event: string;
  /** Such as `running`. */
  readonly status: string;
  /** True if no further update of this worker follows. */
  readonly isTerminal: boolean;
  /** The session of the worker, for `resumeSession` and `loadSession`. Null if the agent does not name it. */
  readonly sessionId: string | null;
  readonly metadata: JsonObject;
  /** The mutation record of the worker. Absent without a mutation scope. */
  readonly audit?: JsonObject;
}

/** A vendor update that the agent advertised at `initialize`. */
export interface ExtensionUpdate {
  readonly type: "extension";
  readonly name: string;
  readonly fields: JsonObject;
}
