import type { ImageBlock } from "../../../domain/model/image-block.ts";
import type { JsonObject } from "../../../data/json.ts";
import type { ModelMessage } from "../../../domain/model/model-request.ts";

/** What a request brings as its input, in our words. */
export type InputItem =
  | MessageInput
  | ToolCallInput
  | ToolResultInput
  | ReasoningInput
  | ExecutedToolCallInput
  | CompactionInput
  | ReferenceInput;

interface ItemOrigin {
  /** Where it stands in the request, for whoever has to find it. */
  readonly path: string;
  /** As it was sent; one of ours names its session. */
  readonly id: string | null;
  /** The session that it says it belongs to; every surface gives it on what the assistant said. */
  readonly sessionId: unknown;
}

export type InputRole = "user" | "assistant" | "system" | "developer";

export interface MessageInput extends ItemOrigin {
  readonly kind: "message";
  readonly role: InputRole;
  readonly parts: readonly ContentPart[];
  /** Sessions that its parts name: some clients move what a message carries into its content. */
  readonly partSessionIds: readonly unknown[];
  /** Fields that nobody here knows: state that the caller wants carried along. */
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

/** A call that the agent's side ran, with what came of it, as one item. */
export interface ExecutedToolCallInput extends ItemOrigin {
  readonly kind: "executed";
  readonly callId: string;
  readonly name: string;
  readonly inputText: string;
  /** Null where there is none yet. */
  readonly output: string | null;
  readonly isError: boolean;
}

/** A conversation that was packed into one item. */
export interface CompactionInput extends ItemOrigin {
  readonly kind: "compaction";
  readonly instructions: string | null;
  readonly messages: readonly ModelMessage[];
}

/** An item of ours that the caller did not send again. */
export interface ReferenceInput extends ItemOrigin {
  readonly kind: "reference";
  readonly id: string;
}

export type ContentPart =
  | { readonly type: "text"; readonly text: string; readonly path: string }
  | { readonly type: "image"; readonly image: ImageBlock; readonly path: string }
  /** Something that no agent here is given: a file, a film, a picture that would have to be fetched. */
  | { readonly type: "unsupported"; readonly kind: string; readonly path: string };
