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

/** What a turn has said so far, block by block. Everything that is built from a turn is a view of this. */
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
  /** The keys of its text blocks that no replacement has taken back. */
  texts: string[];
}

/** One model call of the turn. */
export interface UsageStep {
  readonly usage: Usage;
  readonly latencyMs?: number;
}

/** `open` is a block that nothing closed; `implicit` one that something other than its own stop closed. */
export type Ending = "open" | "implicit" | "explicit";

interface BlockState {
  /** Unique in its stream and the same whenever the stream is read again. */
  readonly key: string;
  readonly order: number;
  readonly message: number;
  readonly ending: Ending;
  /** How many pieces of its text or arguments are loose, while they come. */
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

export function blocksInOrder(turn: TurnBuilder): Block[] {
  return [...turn.blocks.values()].sort((left, right) => left.order - right.order);
}

/** A message that never started has no known speaker, and must not be put into the assistant's mouth. */
function resolveMessage(turn: TurnBuilder, message: number): MessageState {
  const known = turn.messages.get(message);
  if (known !== undefined) return known;
  const facts: MessageState = { role: "other", reason: null, texts: [] };
  turn.messages.set(message, facts);
  return facts;
}

/** The replacement stands where the first text stood, else after all that was said before it. */
function replaceText(turn: TurnBuilder, { message, text }: MessageReplaced): void {
  const facts = resolveMessage(turn, message);
  let key = `m${message}`;
  let order = Infinity;
  for (const textKey of facts.texts) {
    const block = turn.blocks.get(textKey);
    if (block?.kind !== "text") continue;
    // A withdrawn block stays, closed: its own end may still come and must not bring the text back.
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
  // Field by field: a spread costs ten times as much, and this is done for every delta.
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
