import { toJsonText } from "../../../data/json.ts";
import type { PlanPriority } from "../../../domain/plan.ts";
import type { FileDiff, FileLocation } from "../../../domain/tools/tool-output.ts";
import type { ToolKind } from "../../../domain/tools/tool-traits.ts";
import { encodeCursorMeta } from "./update-cursor.ts";
import type { VendorUpdate } from "./vendor-updates.ts";

/** The updates that this bridge sends: those of ACP v0.12.2, and those that hosts of the Harn bridge know beside them. */
export type AcpSessionUpdate = StandardUpdate | UserMessage | VendorUpdate;

export type StandardUpdate =
  | ChunkUpdate
  | ToolCallUpdate
  | InfoUpdate
  | UsageUpdate
  | ModeUpdate
  | CommandsUpdate
  | PlanUpdate
  | OptionsUpdate
  | NoticeUpdate;

export interface ChunkUpdate {
  readonly sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";
  readonly content: TextContent;
  readonly messageId: string;
}

export interface TextContent {
  readonly type: "text";
  readonly text: string;
  readonly _meta?: { readonly harn: object };
}

/** A whole message. ACP has it from its next version on; hosts of the bridge have always had it. */
export interface UserMessage {
  readonly sessionUpdate: "user_message";
  readonly messageId: string;
  readonly content: readonly TextContent[];
  /** The client that sent the message, if a client did. */
  readonly _meta?: { readonly harn: { readonly clientId: string } };
}

/** `tool_call` comes once and first; every later word about the call is a `tool_call_update`. */
export interface ToolCallUpdate extends ToolCallFields {
  readonly sessionUpdate: "tool_call" | "tool_call_update";
}

export interface ToolCallFields {
  readonly toolCallId: string;
  readonly title?: string;
  readonly status?: "pending" | "in_progress" | "completed" | "failed";
  readonly content?: readonly ToolContent[];
  readonly locations?: readonly FileLocation[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
  readonly kind?: ToolKind;
  readonly _meta?: ToolMeta;
}

/** Beside the bridge's own there is what an editor's terminal is fed with. */
export interface ToolMeta {
  readonly harn?: object;
  readonly terminal_info?: object;
  readonly terminal_output?: object;
  readonly terminal_exit?: object;
}

export type ToolContent =
  | { readonly type: "content"; readonly content: TextContent }
  | { readonly type: "terminal"; readonly terminalId: string }
  | ({ readonly type: "diff" } & FileDiff);

export interface InfoUpdate {
  readonly sessionUpdate: "session_info_update";
  readonly title?: string;
  readonly _meta?: {
    readonly harn: { readonly turn: TurnInfo } | { readonly queued: QueuedInfo };
  };
}

/** A prompt that waits for the turn of another one, for hosts. */
export interface QueuedInfo {
  readonly promptId: string;
  /** Who sent it. */
  readonly clientId: string | null;
}

/** The end of a turn, for hosts: the answer to its prompt goes to one connection, and is lost with that. */
export interface TurnInfo {
  readonly turnId: string;
  readonly promptId: string | null;
  /** Who sent the prompt. */
  readonly clientId: string | null;
  /** As the answer to the prompt has them: one of the two. */
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Something for the user that is no part of the conversation. Only clients that say so take it. */
export interface NoticeUpdate {
  readonly sessionUpdate: "notice";
  readonly severity: "warning";
  readonly title: string;
}

/** Tokens in the agent's context, and how many it can have. */
export interface UsageUpdate {
  readonly sessionUpdate: "usage_update";
  readonly used: number;
  readonly size: number;
}

/** The whole plan, in place of the one before. */
export interface PlanUpdate {
  readonly sessionUpdate: "plan";
  readonly entries: readonly PlanUpdateEntry[];
}

export interface PlanUpdateEntry {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly priority: PlanPriority;
  /** The status in the agent's words, where ACP has none for it. */
  readonly _meta?: { readonly harn: { readonly status: string } };
}

export interface CommandsUpdate {
  readonly sessionUpdate: "available_commands_update";
  readonly availableCommands: readonly object[];
}

export interface ModeUpdate {
  readonly sessionUpdate: "current_mode_update";
  readonly currentModeId: string;
}

export interface OptionsUpdate extends OptionsResult {
  readonly sessionUpdate: "config_option_update";
}

/** All options of a session, as an update and as an answer. */
export interface OptionsResult {
  readonly configOptions: readonly ConfigOption[];
}

export interface ConfigOption {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly type: "select";
  readonly currentValue: string;
  readonly options: readonly object[];
}

export function encodeUpdateLine(
  sessionId: string,
  update: AcpSessionUpdate,
  cursor?: string,
): string {
  const cursorFields =
    cursor === undefined ? "" : `,"_meta":${toJsonText(encodeCursorMeta(cursor)["_meta"])}`;
  const params = `{"sessionId":${toJsonText(sessionId)},"update":${encodeUpdate(update)}${cursorFields}}`;
  return `{"jsonrpc":"2.0","method":"session/update","params":${params}}\n`;
}

/** Nearly all that is told is plain text in pieces: put together around the piece it takes half the time. */
function encodeUpdate(update: AcpSessionUpdate): string {
  if (!isPlainChunk(update)) return toJsonText(update);
  const { sessionUpdate, content, messageId } = update;
  return `{"sessionUpdate":"${sessionUpdate}","content":{"type":"text","text":${toJsonText(content.text)}},"messageId":${toJsonText(messageId)}}`;
}

function isPlainChunk(update: AcpSessionUpdate): update is ChunkUpdate {
  switch (update.sessionUpdate) {
    case "user_message_chunk":
    case "agent_message_chunk":
    case "agent_thought_chunk":
      return update.content["_meta"] === undefined;
    default:
      return false;
  }
}

/** Shows a terminal of the client's own in a call. */
export function createTerminalUpdate(toolCallId: string, terminalId: string): ToolCallUpdate {
  const content: readonly ToolContent[] = [{ type: "terminal", terminalId }];
  return { sessionUpdate: "tool_call_update", toolCallId, content };
}

/**
 * The same for what else the client is told of such a call: its terminal has the output, and stays. What went wrong
 * stands beside it.
 */
export function showInTerminal(
  update: AcpSessionUpdate,
  findTerminal: (toolCallId: string) => string | undefined,
): AcpSessionUpdate {
  if (!isToolCallUpdate(update) || update.content === undefined) return update;
  const terminalId = findTerminal(update.toolCallId);
  if (terminalId === undefined) return update;
  const rest = update.content.filter(
    ({ type }) => type === "diff" || (type === "content" && update.status === "failed"),
  );
  return { ...update, content: [{ type: "terminal", terminalId }, ...rest] };
}

function isToolCallUpdate(update: AcpSessionUpdate): update is ToolCallUpdate {
  const { sessionUpdate } = update;
  return sessionUpdate === "tool_call" || sessionUpdate === "tool_call_update";
}
