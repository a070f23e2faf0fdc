import type { Diagnostic } from "../diagnostic.ts";
import { appendText, type TextBuilder } from "../../text/text-builder.ts";
import type {
  MessageReplaced,
  ProviderEvent,
  Role,
  TurnEnd,
  UnknownEvent,
} from "./provider-event.ts";
import { createCutToolCall, type ToolCall, type ToolResult } from "../tools/tool-call.ts";
import type { Usage } from "../usage.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The content of a turn so far, block by block. Every result built from a turn derives from this state. */
export interface TurnBuilder {
  readonly messages: Map<number, MessageState>;
  readonly blocks: Map<string, Block>;
  readonly steps: UsageStep[];
  readonly diagnostics: Diagnostic[];
  readonly unknown: UnknownEvent[];
  lastOrder: number;
  end: TurnEnd | null;
}

export interface MessageState {
  role: Role;
  reason: string | null;
  /** Keys of its text blocks, except those withdrawn by a replacement. */
  texts: string[];
}

/** One model request of the turn. */
export interface UsageStep {
  readonly usage: Usage;
  readonly latencyMs?: number;
}

/** `open`: not closed yet. `implicit`: closed by another event than its own stop. */
export type Ending = "open" | "implicit" | "explicit";

interface BlockState {
  /** Unique in its stream, and the same each time the stream is read. */
  readonly key: string;
  readonly order: number;
  readonly message: number;
  readonly ending: Ending;
  /** Number of text or argument pieces not yet joined. Absent once the block is closed. */
  readonly pieceCount?: TextBuilder["pieceCount"];
}

export interface TextBlock extends BlockState {
  readonly kind: "text";
  readonly text: string;
}

export interface ReasoningBlock extends BlockState {
  readonly kind: "reasoning";
  readonly text: string;
  readonly signature?: string;
  readonly redacted?: string;
}

export interface ToolCallBlock extends BlockState {
  readonly kind: "tool-call";
  readonly toolCall: ToolCall;
}

export interface ToolResultBlock extends BlockState {
  readonly kind: "tool-result";
  readonly result: ToolResult;
}

export type Block = TextBlock | ReasoningBlock | ToolCallBlock | ToolResultBlock;

export function createTurnBuilder(): TurnBuilder {
  return {
    messages: new Map(),
    blocks: new Map(),
    steps: [],
    diagnostics: [],
    unknown: [],
    lastOrder: -1,
    end: null,
  };
}

export function addToTurn(turn: TurnBuilder, event: ProviderEvent): void {
  switch (event.type) {
    case "message.start":
      resolveMessage(turn, event.message).role = event.role;
      return;
    case "message.end":
      resolveMessage(turn, event.message).reason = event.reason;
      return;
    case "message.replaced":
      return replaceText(turn, event);
    case "text.delta":
    case "reasoning.delta":
      return appendDelta(turn, event, event.type === "text.delta" ? "text" : "reasoning");
    case "text.end":
      return putBlock(turn, { ...createClosedBlock(event), kind: "text", text: event.text });
    case "reasoning.end":
      return putBlock(turn, {
        ...createClosedBlock(event),
        kind: "reasoning",
        text: event.text,
        ...omitUndefined({ signature: event.signature, redacted: event.redacted }),
      });
    case "tool.start":
      return putBlock(turn, {
        ...createOpenBlock(event),
        kind: "tool-call",
        toolCall: createUnfinishedCall(event.toolCallId, event.name),
      });
    case "tool.delta":
      return appendInputDelta(turn, event);
    case "tool.end":
      return putBlock(turn, {
        ...createClosedBlock(event),
        kind: "tool-call",
        toolCall: event.toolCall,
      });
    case "tool.result":
      return putBlock(turn, {
        ...createClosedBlock(event),
        kind: "tool-result",
        result: event.result,
      });
    case "usage": {
      const { usage, latencyMs } = event;
      turn.steps.push(latencyMs === undefined ? { usage } : { usage, latencyMs });
      return;
    }
    case "diagnostic":
      turn.diagnostics.push(event.diagnostic);
      return;
    case "unknown":
      turn.unknown.push(event);
      return;
    case "end":
      turn.end = event;
      return;
    case "hook":
    case "activity":
      return;
    default:
      event satisfies never;
  }
}

export function listBlocksInOrder(turn: TurnBuilder): Block[] {
  return [...turn.blocks.values()].sort((left, right) => left.order - right.order);
}

/**
 * Returns the state of a message, creating it if needed. A message without a start has an unknown role: `assistant`
 * would attribute foreign text to the model.
 */
function resolveMessage(turn: TurnBuilder, message: number): MessageState {
  const known = turn.messages.get(message);
  if (known !== undefined) return known;
  const facts: MessageState = { role: "other", reason: null, texts: [] };
  turn.messages.set(message, facts);
  return facts;
}

/** Puts the replacement at the position of the first text, or after all earlier blocks of a message without text. */
function replaceText(turn: TurnBuilder, { message, text }: MessageReplaced): void {
  const facts = resolveMessage(turn, message);
  let key = `m${message}`;
  let order = Infinity;
  for (const textKey of facts.texts) {
    const block = turn.blocks.get(textKey);
    if (block?.kind !== "text") continue;
    // A withdrawn block stays, closed: its own end event may follow and must not restore the text.
    turn.blocks.set(textKey, { ...block, text: "", ending: "explicit" });
    if (block.order < order) ({ key, order } = block);
  }
  if (order === Infinity) order = turn.lastOrder + 0.5;
  turn.blocks.set(key, { kind: "text", text, key, order, message, ending: "explicit" });
  facts.texts = [key];
}

interface BlockPosition {
  readonly message: number;
  readonly block: number;
}

function createClosedBlock({
  message,
  block,
  implicitStop,
}: BlockPosition & { readonly implicitStop?: true }): BlockState {
  const ending = implicitStop === true ? "implicit" : "explicit";
  return { key: String(block), order: block, message, ending };
}

function createOpenBlock({ message, block }: BlockPosition): BlockState {
  return { key: String(block), order: block, message, ending: "open" };
}

function putBlock(turn: TurnBuilder, block: Block): void {
  const previous = turn.blocks.get(block.key);
  if (previous !== undefined && previous.ending !== "open") return;
  turn.lastOrder = Math.max(turn.lastOrder, block.order);
  if (previous === undefined && block.kind === "text")
    resolveMessage(turn, block.message).texts.push(block.key);
  turn.blocks.set(block.key, block);
}

function appendDelta(
  turn: TurnBuilder,
  delta: BlockPosition & { readonly text: string },
  kind: "text" | "reasoning",
): void {
  const { key, order, message, ending } = createOpenBlock(delta);
  const previous = turn.blocks.get(key);
  const previousText = previous?.kind === kind ? previous.text : "";
  const { text, pieceCount } = appendPiece(previousText, delta.text, previous?.pieceCount);
  // Built field by field: a spread costs ten times as much, and this runs for every delta.
  putBlock(turn, { kind, text, key, order, message, ending, pieceCount });
}

function appendInputDelta(
  turn: TurnBuilder,
  delta: BlockPosition & { readonly toolCallId: string; readonly text: string },
): void {
  const { key, order, message, ending } = createOpenBlock(delta);
  const previous = turn.blocks.get(key);
  const previousCall =
    previous?.kind === "tool-call" ? previous.toolCall : createUnfinishedCall(delta.toolCallId, "");
  const { text: inputText, pieceCount: loose } = appendPiece(
    previousCall.inputText,
    delta.text,
    previous?.pieceCount,
  );
  const call = { ...previousCall, inputText };
  putBlock(turn, {
    kind: "tool-call",
    toolCall: call,
    key,
    order,
    message,
    ending,
    pieceCount: loose,
  });
}

function appendPiece(text: string, piece: string, loose = 0): TextBuilder {
  const gathered = { text, pieceCount: loose };
  appendText(gathered, piece);
  return gathered;
}

function createUnfinishedCall(id: string, name: string): ToolCall {
  return createCutToolCall({ id, name, inputText: "", runBy: "client" });
}
