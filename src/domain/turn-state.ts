import type { Diagnostic } from "./diagnostic.ts";
import { gather, type GatheredText } from "./kept-text.ts";
import type {
  MessageReplaced,
  ProviderEvent,
  Role,
  TurnEnd,
  UnknownSeen,
} from "./provider-event.ts";
import { cutCall, type ToolCall, type ToolResult } from "./tool.ts";
import type { Usage } from "./usage.ts";

/** What a turn has said so far, block by block. Everything that is built from a turn is a view of this. */
export interface TurnState {
  readonly messages: Map<number, MessageFacts>;
  readonly blocks: Map<string, Block>;
  readonly steps: UsageStep[];
  readonly diagnostics: Diagnostic[];
  readonly unknown: UnknownSeen[];
  lastOrder: number;
  end: TurnEnd | null;
}

export interface MessageFacts {
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

interface Placed {
  /** Unique in its stream and the same whenever the stream is read again. */
  readonly key: string;
  readonly order: number;
  readonly message: number;
  readonly ending: Ending;
  /** How many pieces of its text or arguments are loose, while they come. */
  readonly loose?: GatheredText["loose"];
}

export interface TextBlock extends Placed {
  readonly kind: "text";
  readonly text: string;
}

export interface ReasoningBlock extends Placed {
  readonly kind: "reasoning";
  readonly text: string;
  readonly signature?: string;
  readonly redacted?: string;
}

export interface CallBlock extends Placed {
  readonly kind: "call";
  readonly call: ToolCall;
}

export interface ResultBlock extends Placed {
  readonly kind: "result";
  readonly result: ToolResult;
}

export type Block = TextBlock | ReasoningBlock | CallBlock | ResultBlock;

export function initialTurn(): TurnState {
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

export function addToTurn(turn: TurnState, event: ProviderEvent): void {
  switch (event.type) {
    case "message.start":
      factsOf(turn, event.message).role = event.role;
      return;
    case "message.end":
      factsOf(turn, event.message).reason = event.reason;
      return;
    case "message.replaced":
      return replaceText(turn, event);
    case "text.delta":
    case "reasoning.delta":
      return append(turn, event, event.type === "text.delta" ? "text" : "reasoning");
    case "text.end":
      return put(turn, { ...placed(event), kind: "text", text: event.text });
    case "reasoning.end":
      return put(turn, {
        ...placed(event),
        kind: "reasoning",
        text: event.text,
        ...(event.signature !== undefined && { signature: event.signature }),
        ...(event.redacted !== undefined && { redacted: event.redacted }),
      });
    case "tool.start":
      return put(turn, {
        ...open(event),
        kind: "call",
        call: unfinished(event.callId, event.name),
      });
    case "tool.delta":
      return appendInput(turn, event);
    case "tool.end":
      return put(turn, { ...placed(event), kind: "call", call: event.call });
    case "tool.result":
      return put(turn, { ...placed(event), kind: "result", result: event.result });
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

export function blocksInOrder(turn: TurnState): Block[] {
  return [...turn.blocks.values()].sort((left, right) => left.order - right.order);
}

/** A message that never started has no known speaker, and must not be put into the assistant's mouth. */
function factsOf(turn: TurnState, message: number): MessageFacts {
  const known = turn.messages.get(message);
  if (known !== undefined) return known;
  const facts: MessageFacts = { role: "other", reason: null, texts: [] };
  turn.messages.set(message, facts);
  return facts;
}

/** The replacement stands where the first text stood, else after all that was said before it. */
function replaceText(turn: TurnState, { message, text }: MessageReplaced): void {
  const facts = factsOf(turn, message);
  let key = `m${message}`;
  let order = Infinity;
  for (const shown of facts.texts) {
    const block = turn.blocks.get(shown);
    if (block?.kind !== "text") continue;
    // A withdrawn block stays, closed: its own end may still come and must not bring the text back.
    turn.blocks.set(shown, { ...block, text: "", ending: "explicit" });
    if (block.order < order) ({ key, order } = block);
  }
  if (order === Infinity) order = turn.lastOrder + 0.5;
  turn.blocks.set(key, { kind: "text", text, key, order, message, ending: "explicit" });
  facts.texts = [key];
}

interface At {
  readonly message: number;
  readonly block: number;
}

function placed({ message, block, implicitStop }: At & { readonly implicitStop?: true }): Placed {
  const ending = implicitStop === true ? "implicit" : "explicit";
  return { key: String(block), order: block, message, ending };
}

function open({ message, block }: At): Placed {
  return { key: String(block), order: block, message, ending: "open" };
}

function put(turn: TurnState, block: Block): void {
  const before = turn.blocks.get(block.key);
  if (before !== undefined && before.ending !== "open") return;
  turn.lastOrder = Math.max(turn.lastOrder, block.order);
  if (before === undefined && block.kind === "text")
    factsOf(turn, block.message).texts.push(block.key);
  turn.blocks.set(block.key, block);
}

function append(
  turn: TurnState,
  delta: At & { readonly text: string },
  kind: "text" | "reasoning",
): void {
  const { key, order, message, ending } = open(delta);
  const before = turn.blocks.get(key);
  const said = before?.kind === kind ? before.text : "";
  const { text, loose } = withPiece(said, delta.text, before?.loose);
  // Field by field: a spread costs ten times as much, and this is done for every delta.
  put(turn, { kind, text, key, order, message, ending, loose });
}

function appendInput(
  turn: TurnState,
  delta: At & { readonly callId: string; readonly text: string },
): void {
  const { key, order, message, ending } = open(delta);
  const before = turn.blocks.get(key);
  const known = before?.kind === "call" ? before.call : unfinished(delta.callId, "");
  const { text: inputText, loose } = withPiece(known.inputText, delta.text, before?.loose);
  const call = { ...known, inputText };
  put(turn, { kind: "call", call, key, order, message, ending, loose });
}

function withPiece(text: string, piece: string, loose = 0): GatheredText {
  const gathered = { text, loose };
  gather(gathered, piece);
  return gathered;
}

function unfinished(id: string, name: string): ToolCall {
  return cutCall({ id, name, inputText: "", runBy: "client" });
}
