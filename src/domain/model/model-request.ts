import { SpanlineError } from "../errors.ts";
import type { ImageBlock } from "./image-block.ts";
import type { JsonObject } from "../../data/json.ts";
import type { TraceContext } from "../trace-context.ts";
import type { TurnBlock } from "../provider/turn.ts";

/** A request to a model. Contains the whole conversation, since models are stateless. */
export interface ModelRequest {
  readonly system?: string;
  readonly messages: readonly ModelMessage[];
  /**
   * Number of leading messages which are the same unchanged objects in every later request of this conversation. A
   * model may cache their encoding. Default: 0.
   */
  readonly stableCount?: number;
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: ToolChoice;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  /** Sent in HTTP headers, not in the body. */
  readonly trace?: TraceContext;
}

export interface ModelMessage {
  readonly role: "user" | "assistant";
  readonly blocks: readonly ModelBlock[];
}

/** A block of a turn, or an image for the model. */
export type ModelBlock = TurnBlock | ImageBlock;

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly schema: JsonObject;
}

/** `required`: the model must call a tool of its choice. */
export type ToolChoice = "auto" | "required" | { readonly tool: string };

/**
 * Returns the conversation in the form required by every model API: roles alternate; tool calls and reasoning belong to
 * the assistant, results and images to the user; results precede the user's text; no block is blank; no assistant
 * message ends with reasoning. A server tool call is encoded like any other. `isSupported` drops blocks the API does
 * not accept. Throws `invalid_message` if no block remains.
 */
export function toAlternatingMessages(
  { messages }: Pick<ModelRequest, "messages">,
  isSupported?: (block: ModelBlock) => boolean,
): ModelMessage[] {
  const { groups } = alternateMessages(messages, isSupported);
  if (groups.length === 0) {
    throw new SpanlineError(
      "invalid_message",
      "A model request has no content: expected at least one block that is not blank. Fix: add some text",
    );
  }
  return groups;
}

/** Part of a conversation in the form of `toAlternatingMessages`. Empty if all blocks are blank. */
export interface Alternation {
  readonly groups: ModelMessage[];
  /** Role of the first and of the last block, even if `groups` omits the block. */
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
 * Whether two parts of a conversation can be normalized separately with the same result as together: the speaker
 * changes between them, and no message of the first would be joined with one of the second.
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

/** The end of a part: its last speaker, and the role of its last normalized message. */
export interface PartEnd {
  readonly last: ModelMessage["role"] | undefined;
  readonly lastRole: ModelMessage["role"] | undefined;
}

export interface PartStart {
  readonly first: ModelMessage["role"] | undefined;
  readonly firstRole: ModelMessage["role"] | undefined;
}

/** Joins consecutive messages of the same role. Drops empty messages. */
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
