import type { ImageBlock } from "../../../domain/model/image-block.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { ModelMessage } from "../../../domain/model/model-request.ts";

/** An item of the input of a request. */
export type InputItem =
  | MessageInput
  | ToolCallInput
  | ToolResultInput
  | ReasoningInput
  | ExecutedToolCallInput
  | CompactionInput
  | ReferenceInput;

interface ItemOrigin {
  /** Path of the item in the request, for error messages. */
  readonly path: string;
  /** The id as sent. An id created by this server contains its session. */
  readonly id: string | null;
  /** The `session_id` field of the item. Every surface sets this field on assistant messages. */
  readonly sessionId: unknown;
}

export type InputRole = "user" | "assistant" | "system" | "developer";

export interface MessageInput extends ItemOrigin {
  readonly kind: "message";
  readonly role: InputRole;
  readonly parts: readonly ContentPart[];
  /** Session ids in content parts. Some clients move fields of a message into its content. */
  readonly partSessionIds: readonly unknown[];
  /** Unknown fields: state carried by the caller. */
  readonly state: JsonObject;
}

export interface ToolCallInput extends ItemOrigin {
  readonly kind: "call";
  readonly callId: string;
  readonly name: string;
  readonly inputText: string;
}

export interface ToolResultInput extends ItemOrigin {
  readonly kind: "result";
  readonly callId: string;
  readonly parts: readonly ContentPart[];
  readonly isError: boolean;
}

export interface ReasoningInput extends ItemOrigin {
  readonly kind: "reasoning";
  readonly text: string;
  readonly redacted?: string;
  readonly signature?: string;
}

/** A tool call run by the agent's side, with its result, as one item. */
export interface ExecutedToolCallInput extends ItemOrigin {
  readonly kind: "executed";
  readonly callId: string;
  readonly name: string;
  readonly inputText: string;
  /** Null while no output exists. */
  readonly output: string | null;
  readonly isError: boolean;
}

/** A compacted conversation. */
export interface CompactionInput extends ItemOrigin {
  readonly kind: "compaction";
  readonly instructions: string | null;
  readonly messages: readonly ModelMessage[];
}

/** A reference to an item of a session, sent instead of the item. */
export interface ReferenceInput extends ItemOrigin {
  readonly kind: "reference";
  readonly id: string;
}

export type ContentPart =
  | { readonly type: "text"; readonly text: string; readonly path: string }
  | { readonly type: "image"; readonly image: ImageBlock; readonly path: string }
  /** Content which agents do not support: a file, a video, or an image which would have to be fetched. */
  | { readonly type: "unsupported"; readonly kind: string; readonly path: string };
