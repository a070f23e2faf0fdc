import type { ImageBlock } from "../../domain/model/image-block.ts";
import type { JsonObject } from "../../data/json.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";

/** A message of a request, in our words. `at` is its place in the request. */
export type ChatMessage = InstructionsMessage | UserMessage | AssistantMessage | ResultMessage;

/** What a message says, piece by piece. */
export type ChatPart = { readonly type: "text"; readonly text: string } | ImageBlock;

/** Of the system or the developer. */
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
  /** That it was given here; it says which answer it is. */
  readonly id?: string;
  /** Fields that are nobody's but the sender's: what it once attached comes back with them. */
  readonly state: JsonObject;
}

export interface ResultMessage {
  readonly type: "result";
  readonly index: number;
  /** As the client has it. */
  readonly callId: string;
  readonly text: string;
}

/** A session that a part of the request names. */
export interface SessionReference {
  readonly id: string;
  readonly param: string;
}

/** Parts of one message are lines of it. */
export function joinText(parts: readonly ChatPart[]): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
