import type { JsonObject } from "../data/json.ts";
import type { BudgetCaps } from "./budget.ts";
import type { ImageType } from "./model/image-block.ts";
import type { TraceContext } from "./trace-context.ts";

export type PromptPart = TextPart | ImagePart;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** An image whose bytes are stored as a blob of the session. */
export interface ImagePart {
  readonly type: "image";
  readonly mediaType: ImageType;
  readonly blobId: string;
  readonly bytes: number;
}

/** Settings of a prompt. They apply to its turn only. */
export interface PromptOptions {
  /**
   * Instructions for the agent. The provider adds them to the agent's instructions or replaces those, depending on the
   * provider.
   */
  readonly instructions?: string;
  /** Tools run by the prompter: the turn pauses at their calls, and a `submit-results` command delivers the results. */
  readonly tools?: readonly PromptTool[];
  /** Names of the only tools the model may call, including the agent's tools. */
  readonly allowedTools?: readonly string[];
  readonly maxOutputTokens?: number;
  readonly maxToolCalls?: number;
  /** Budget of the turn. It applies next to the agent's budgets, and never raises them. */
  readonly budget?: BudgetCaps;
  /** Milliseconds an approval request waits while no client but the sender is attached. */
  readonly approvalMs?: number;
  /** Position of the prompt in the sender's distributed trace. */
  readonly trace?: TraceContext;
}

export interface PromptTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly schema: JsonObject;
}

/** Formats a prompt part as text, for readers without image support. */
export function formatPromptPart(part: PromptPart): string {
  return part.type === "text" ? part.text : formatImagePart(part);
}

/** Describes an image by its type and size. */
export function formatImagePart({ mediaType, bytes, blobId }: ImagePart): string {
  return `(An image, ${mediaType}, ${bytes} bytes, stored as ${blobId}. It cannot be shown here.)`;
}
