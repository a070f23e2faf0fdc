import type { JsonValue } from "../../domain/json.ts";
import type { FileDiff, FileLocation } from "../../domain/tool-output.ts";
import type { ToolKind } from "../../domain/tool-traits.ts";
import { notificationLine } from "../jsonrpc/write-message.ts";

/** The updates that this bridge sends, as ACP v0.12.2 has them. */
export type SessionUpdate = ChunkUpdate | ToolCallUpdate | InfoUpdate;

export interface ChunkUpdate {
  readonly sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";
  readonly content: TextContent;
  readonly messageId: string;
}

export interface TextContent {
  readonly type: "text";
  readonly text: string;
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
  readonly rawInput?: JsonValue;
  readonly rawOutput?: unknown;
  readonly kind?: ToolKind;
  readonly _meta?: { readonly harn: object };
}

export type ToolContent =
  | { readonly type: "content"; readonly content: TextContent }
  | ({ readonly type: "diff" } & FileDiff);

export interface InfoUpdate {
  readonly sessionUpdate: "session_info_update";
  readonly title: string;
}

export function updateLine(sessionId: string, update: SessionUpdate): string {
  return notificationLine("session/update", { sessionId, update });
}
