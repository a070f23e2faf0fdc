import type { JsonObject } from "../data/json.ts";
import type { ImageType } from "./model/image-block.ts";
import type { TraceContext } from "./trace-context.ts";

export type PromptPart = TextPart | ImagePart;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** A picture whose bytes are a blob of the session. */
export interface ImagePart {
  readonly type: "image";
  readonly mediaType: ImageType;
  readonly blobId: string;
  readonly bytes: number;
}

/** What a prompt asks for, for its own turn alone. */
export interface PromptOptions {
  /** Told to the agent beside, or in place of, its own instructions, as its provider can. */
  readonly instructions?: string;
  /** Tools of whoever prompts: the turn pauses for their calls, and their results come with a command. */
  readonly tools?: readonly PromptTool[];
  /** Only these tools may be called, whosever they are. */
  readonly allowedTools?: readonly string[];
  readonly maxOutputTokens?: number;
  readonly maxToolCalls?: number;
  /** How long an approval waits for its answer while nobody is there but the sender. */
  readonly approvalMs?: number;
  /** Where the prompt belongs in a trace of whoever sent it. */
  readonly trace?: TraceContext;
}

export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly schema: JsonObject;
}
