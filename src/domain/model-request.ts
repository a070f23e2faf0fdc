import { SpanlineError } from "./errors.ts";
import type { JsonObject } from "./json.ts";
import type { TurnBlock } from "./turn.ts";

/** What a model is asked: the whole conversation, since a model remembers nothing. */
export interface ModelRequest {
  readonly system?: string;
  readonly messages: readonly ModelMessage[];
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: ToolChoice;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
}

export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly blocks: readonly TurnBlock[];
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly schema: JsonObject;
}

/** `required` means any tool, but one of them. */
export type ToolChoice = "auto" | "required" | { readonly tool: string };

/**
 * The conversation as every model API wants it: roles alternate, calls and reasoning are the assistant's, results are
 * the user's and come before the user's text, nothing is blank. A call that ran on a server goes in as any other.
 */
export function alternatingMessages({ messages }: ModelRequest): ModelMessage[] {
  const groups: { readonly role: ModelMessage["role"]; readonly blocks: TurnBlock[] }[] = [];
  for (const message of messages) {
    for (const block of message.blocks) {
      if (isBlank(block)) continue;
      const role = speakerOf(block) ?? message.role;
      const last = groups.at(-1);
      if (last?.role === role) last.blocks.push(block);
      else groups.push({ role, blocks: [block] });
    }
  }
  if (groups.length === 0) {
    throw new SpanlineError("invalid_message", "Cannot ask a model nothing; give it some text");
  }
  return groups.map(({ role, blocks }) => ({ role, blocks: resultsFirst(blocks) }));
}

function speakerOf({ type }: TurnBlock): ModelMessage["role"] | undefined {
  if (type === "text") return undefined;
  return type === "result" ? "user" : "assistant";
}

function isBlank(block: TurnBlock): boolean {
  return block.type === "text" && block.text.trim() === "";
}

function resultsFirst(blocks: readonly TurnBlock[]): TurnBlock[] {
  const isResult = (block: TurnBlock): boolean => block.type === "result";
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}
