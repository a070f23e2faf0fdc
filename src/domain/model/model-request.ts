import { SpanlineError } from "../errors.ts";
import type { ImageBlock } from "./image-block.ts";
import type { JsonObject } from "../../data/json.ts";
import type { TraceContext } from "../trace-context.ts";
import type { TurnBlock } from "../provider/turn.ts";

/** What a model is asked: the whole conversation, since a model remembers nothing. */
export interface ModelRequest {
  readonly system?: string;
  readonly messages: readonly ModelMessage[];
  /**
   * How many of the first messages are the same objects, unchanged, in every later request of this conversation. A model
   * may cache their encoding. Default: 0.
   */
  readonly stableCount?: number;
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: ToolChoice;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  /** Goes beside what is said, in headers. */
  readonly trace?: TraceContext;
}

export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly blocks: readonly ModelBlock[];
}

/** What a turn can hold, and what a model can be shown. */
export type ModelBlock = TurnBlock | ImageBlock;

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly schema: JsonObject;
}

/** `required` means any tool, but one of them. */
export type ToolChoice = "auto" | "required" | { readonly tool: string };

/**
 * The conversation as every model API wants it: roles alternate, calls and reasoning are the assistant's, results and
 * pictures the user's, results come before the user's text, nothing is blank, and no thought is an assistant's last word. A
 * call that ran on a server goes in as any other. What an API does not take at all is left out by `isTaken`.
 */
export function toAlternatingMessages(
  { messages }: Pick<ModelRequest, "messages">,
  isSupported?: (block: ModelBlock) => boolean,
): ModelMessage[] {
  const { groups } = alternateMessages(messages, isSupported);
  if (groups.length === 0) {
    throw new SpanlineError("invalid_message", "Cannot ask a model nothing; give it some text");
  }
  return groups;
}

/** One part of a conversation in the form of `alternatingMessages`; empty if nothing is said. */
export interface Alternation {
  readonly groups: ModelMessage[];
  /** The speaker of the first and of the last block, also if that block is left out of `groups`. */
  readonly first: ModelMessage["role"] | undefined;
  readonly last: ModelMessage["role"] | undefined;
}

export function alternateMessages(
  messages: readonly ModelMessage[],
  isSupported: (block: ModelBlock) => boolean = () => true,
): Alternation {
  const spokenMessages = messages.flatMap(({ role, blocks }) =>
    blocks
      .filter((block) => !isBlank(block) && isSupported(block))
      .map((block) => ({ role: resolveSpeaker(block) ?? role, blocks: [block] })),
  );
  const groups = joinMessages(joinMessages(spokenMessages).map(removeTrailingReasoning));
  return {
    groups: groups.map(({ role, blocks }) => ({ role, blocks: moveResultsFirst(blocks) })),
    first: spokenMessages[0]?.role,
    last: spokenMessages.at(-1)?.role,
  };
}

/**
 * Whether two parts of a conversation that were processed apart are the same as the whole processed at once: the speaker
 * changes between the parts, and no message of the first part would be joined with one of the second.
 */
export function canSplitBetween(previousPart: PartEnd, nextPart: PartStart): boolean {
  return (
    previousPart.last !== undefined &&
    nextPart.first !== undefined &&
    previousPart.last !== nextPart.first &&
    previousPart.lastRole !== undefined &&
    nextPart.firstRole !== undefined &&
    previousPart.lastRole !== nextPart.firstRole
  );
}

/** How a part of a conversation ends: its last speaker, and the role of the last message that it comes to. */
export interface PartEnd {
  readonly last: ModelMessage["role"] | undefined;
  readonly lastRole: ModelMessage["role"] | undefined;
}

export interface PartStart {
  readonly first: ModelMessage["role"] | undefined;
  readonly firstRole: ModelMessage["role"] | undefined;
}

/** One message where several of a role follow each other, and none where nothing is said. */
export function joinMessages(messages: readonly ModelMessage[]): ModelMessage[] {
  const groups: { readonly role: ModelMessage["role"]; readonly blocks: ModelBlock[] }[] = [];
  for (const { role, blocks } of messages) {
    const last = groups.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else if (blocks.length > 0) groups.push({ role, blocks: [...blocks] });
  }
  return groups;
}

function removeTrailingReasoning({ role, blocks }: ModelMessage): ModelMessage {
  const last = blocks.findLastIndex(({ type }) => type !== "reasoning");
  return { role, blocks: blocks.slice(0, last + 1) };
}

function resolveSpeaker({ type }: ModelBlock): ModelMessage["role"] | undefined {
  if (type === "text") return undefined;
  return type === "tool-result" || type === "image" ? "user" : "assistant";
}

export function isBlank(block: ModelBlock): boolean {
  return block.type === "text" && block.text.trim() === "";
}

function moveResultsFirst(blocks: readonly ModelBlock[]): ModelBlock[] {
  const isResult = (block: ModelBlock): boolean => block.type === "tool-result";
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}
