import type { Failure } from "../../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../../data/json.ts";
import type { FileDiff, FileLocation } from "../../../domain/tools/tool-output.ts";
import type { Executor } from "../../../domain/tools/tool-traits.ts";
import type { PromptResult } from "./agent-results.ts";
import type { ConfigOption } from "./session-settings.ts";

/** What an agent tells of a session, in our words. Names that are not known come to none of these. */
export type SessionUpdate =
  | TextUpdate
  | ToolUpdate
  | PlanUpdate
  | CommandsUpdate
  | ModeUpdate
  | OptionsUpdate
  | InfoUpdate
  | UsageUpdate
  | ExtensionUpdate;

export interface TextUpdate {
  readonly type: "user-text" | "agent-text" | "agent-thought";
  /** Null where the agent does not say which message it belongs to. */
  readonly messageId: string | null;
  /** The text of all of its content; empty for a picture. */
  readonly text: string;
  /** As it came. */
  readonly content: readonly JsonObject[];
  /** What is for people, of this piece and of the message so far, where the agent tells them apart from markup. */
  readonly visibleDelta?: string;
  readonly visibleText?: string;
}

/** A word about a call of a tool. What is absent has not changed; lists replace those before them. */
export interface ToolUpdate {
  readonly type: "tool";
  readonly toolCallId: string;
  /** Whether the agent says it of a call that is new. */
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
  /** A picture, a link, or what a later version has. */
  | { readonly type: "other"; readonly content: JsonObject };

/** What a bridge says of a call beside ACP's own fields. */
export interface BridgeFields {
  /** Which writing session the call belongs to. */
  readonly audit?: JsonObject;
  readonly executor?: Executor;
  readonly durationMs?: number;
  readonly executionDurationMs?: number;
  readonly error?: JsonValue;
  readonly errorCategory?: string;
  /** Whether its arguments are still coming, and those that have come. */
  readonly parsing?: boolean;
  readonly partialInput?: JsonValue;
}

export interface PlanUpdate {
  readonly type: "plan";
  /** The whole plan, in place of the one before. */
  readonly entries: readonly PlanEntry[];
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
  /** What to type behind it, where it takes something. */
  readonly hint?: string;
}

export interface ModeUpdate {
  readonly type: "mode";
  readonly modeId: string;
}

export interface OptionsUpdate {
  readonly type: "options";
  /** All of them. */
  readonly options: readonly ConfigOption[];
}

export interface InfoUpdate {
  readonly type: "info";
  /** Null where the session has no title any more. */
  readonly title?: string | null;
  readonly updatedAt?: string | null;
  /** How a turn ended, where the agent tells everybody. */
  readonly turn?: TurnEndInfo;
}

/** A turn is over, whoever prompted for it. */
export interface TurnEndInfo {
  readonly turnId: string;
  /** The client that prompted; null where nobody knows. */
  readonly clientId: string | null;
  readonly end:
    | { readonly type: "done"; readonly result: PromptResult }
    | { readonly type: "failed"; readonly failure: Failure };
}

export interface UsageUpdate {
  readonly type: "usage";
  /** Tokens in the agent's context, and how many it can have. */
  readonly used: number;
  readonly size: number;
  readonly cost?: { readonly amount: number; readonly currency: string };
}

/** An update of the bridge's own, which the agent said at `initialize` that it sends. */
export interface ExtensionUpdate {
  readonly type: "extension";
  readonly name: string;
  readonly fields: JsonObject;
}
