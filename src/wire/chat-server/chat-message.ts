import type { ImageBlock } from "../../domain/model/image-block.ts";
import type { JsonObject } from "../../data/json.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";

/** A message of a request. `index` is its position in the request. */
export type ChatMessage = InstructionsMessage | UserMessage | AssistantMessage | ResultMessage;

/** One part of the content of a message. */
export type ChatPart = { readonly type: "text"; readonly text: string } | ImageBlock;

/** A system or developer message. */
export interface InstructionsMessage {
  readonly type: "instructions";
  readonly index: number;
  readonly text: string;
}

export interface UserMessage {
  readonly type: "user";
  readonly index: number;
  readonly parts: readonly ChatPart[];
}

export interface AssistantMessage {
  readonly type: "assistant";
  readonly index: number;
  readonly parts: readonly ChatPart[];
  readonly toolCalls: readonly ToolCall[];
  /** The id of the message if Spanline assigned the id. Identifies the response. */
  readonly id?: string;
  /** Unknown fields of the message: state attached by the client, returned with the next response. */
  readonly state: JsonObject;
}

export interface ResultMessage {
  readonly type: "result";
  readonly index: number;
  /** The tool call id known to the client. */
  readonly callId: string;
  readonly text: string;
}

/** A session id in the request, with its position. */
export interface SessionReference {
  readonly id: string;
  readonly param: string;
}

/** Joins the text parts of a message with line breaks. */
export function joinText(parts: readonly ChatPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
