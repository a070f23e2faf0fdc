import { toJsonText } from "../../../data/json.ts";
import type { WirePlanEntry } from "../../bridge/plan-entry.ts";
import type { FileDiff, FileLocation } from "../../../domain/tools/tool-output.ts";
import type { ToolKind } from "../../../domain/tools/tool-traits.ts";
import { encodeCursorMeta } from "./update-cursor.ts";
import type { VendorUpdate } from "./vendor-updates.ts";

/** The updates that Spanline sends: the updates of ACP v0.12.2 and the vendor updates for bridge hosts. */
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
  | NoticeUpdate
  | CompactionUpdate;

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

/**
 * A whole user message. Bridge hosts support this update; ACP defines it only after v0.12.2, so stock clients receive
 * chunks.
 */
export interface UserMessage {
  readonly sessionUpdate: "user_message";
  readonly messageId: string;
  readonly content: readonly TextContent[];
  /** The client that sent the message. Absent if the message did not come from a client. */
  readonly _meta?: { readonly harn: { readonly clientId: string } };
}

/** `tool_call` is sent once and first; every later update of the same tool call is a `tool_call_update`. */
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

/** Metadata of a tool call: the bridge fields, and the fields that feed an editor's terminal view. */
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

/** A prompt that waits for another prompt's turn. Sent to bridge hosts. */
export interface QueuedInfo {
  readonly promptId: string;
  /** The client that sent the prompt. Null if no client did. */
  readonly clientId: string | null;
}

/**
 * The end of a turn, for bridge hosts. The response to the prompt reaches a single connection and is lost if that
 * connection closes; this update reaches every host.
 */
export interface TurnInfo {
  readonly turnId: string;
  readonly promptId: string | null;
  /** The client that sent the prompt. Null if no client did. */
  readonly clientId: string | null;
  /** The same `result` or `error` as in the response to the prompt. Exactly one is present. */
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A message for the user outside the conversation. Sent only to clients that declare support for notices. */
export interface NoticeUpdate {
  readonly sessionUpdate: "notice";
  readonly severity: "warning";
  readonly title: string;
}

/**
 * The state of a compaction. Later updates with the same id replace it in place. ACP defines this update after v0.12.2,
 * so only clients that declare support receive it.
 */
export interface CompactionUpdate {
  readonly sessionUpdate: "compaction_update";
  readonly compactionId: string;
  readonly status: "in_progress" | "completed" | "failed" | "cancelled";
  /** Present if a model wrote a summary. */
  readonly summary?: readonly TextContent[];
  /** Only with the status `failed`. */
  readonly error?: string;
}

/** Tokens in the agent's context, and the size of the context window. */
export interface UsageUpdate {
  readonly sessionUpdate: "usage_update";
  readonly used: number;
  readonly size: number;
}

/** The whole plan. It replaces the previous plan. */
export interface PlanUpdate {
  readonly sessionUpdate: "plan";
  readonly entries: readonly WirePlanEntry[];
  /** The plan in the form `harn.plan.v1`. Absent if the agent gave entries only. */
  readonly _meta?: { readonly harn: { readonly plan: object } };
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

/** All config options of a session. Used as an update and as a result. */
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

/** Encodes a `session/update` notification as a line of JSON, including the newline. */
export function encodeUpdateLine(
  sessionId: string,
  update: AcpSessionUpdate,
  cursor?: string,
): string {
  const encodedUpdate = encodeUpdate(update);
  const cursorFields =
    cursor === undefined ? "" : `,"_meta":${toJsonText(encodeCursorMeta(cursor)["_meta"])}`;
  const params = `{"sessionId":${toJsonText(sessionId)},"update":${encodedUpdate}${cursorFields}}`;
  return `{"jsonrpc":"2.0","method":"session/update","params":${params}}\n`;
}

/**
 * Builds plain text chunks by concatenation: nearly all updates are chunks, and concatenation takes half the time of
 * `JSON.stringify`.
 */
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

/** Creates an update that embeds the client's terminal in a tool call. */
export function createTerminalUpdate(toolCallId: string, terminalId: string): ToolCallUpdate {
  const content: readonly ToolContent[] = [{ type: "terminal", terminalId }];
  return { sessionUpdate: "tool_call_update", toolCallId, content };
}

/**
 * Replaces the output in an update of a tool call that runs in the client's terminal, since the terminal already
 * displays the output. Diffs stay, and so does the text of a failed tool call.
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
