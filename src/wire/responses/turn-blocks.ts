import type { MessageReplaced, ProviderEvent, Role, TurnEnd } from "../../domain/provider-event.ts";
import type { ToolCall, ToolResult } from "../../domain/tool.ts";
import type { Usage } from "../../domain/usage.ts";

/** What a turn has said so far, block by block. */
export interface TurnBlocks {
  readonly messages: Map<number, MessageFacts>;
  readonly blocks: Map<string, Block>;
  readonly steps: UsageStep[];
  lastOrder: number;
  end: TurnEnd | null;
}

export interface MessageFacts {
  role: Role;
  reason: string | null;
}

export interface UsageStep {
  readonly usage: Usage;
  readonly latencyMs?: number;
}

/** `open` is a block that nothing closed; `implicit` one that something other than its own stop closed. */
type Ending = "open" | "implicit" | "explicit";

interface Placed {
  /** Unique in its stream and the same whenever the stream is read again: item ids end with it. */
  readonly key: string;
  readonly order: number;
  readonly message: number;
}

interface TextContent {
  readonly kind: "text";
  readonly text: string;
  readonly ending: Ending;
}

export interface ReasoningContent {
  readonly kind: "reasoning";
  readonly text: string;
  readonly signature?: string;
  readonly redacted?: string;
  readonly ending: Ending;
}

interface CallContent {
  readonly kind: "call";
  readonly callId: string;
  readonly name: string;
  readonly inputText: string;
  /** Whether the arguments are a JSON object. */
  readonly readable: boolean;
  readonly ending: Ending;
}

interface ResultContent {
  readonly kind: "result";
  readonly result: ToolResult;
  readonly ending: Ending;
}

type Content = TextContent | ReasoningContent | CallContent | ResultContent;
export type Block = Placed & Content;
export type TextBlock = Placed & TextContent;
export type ReasoningBlock = Placed & ReasoningContent;
export type CallBlock = Placed & CallContent;
export type ResultBlock = Placed & ResultContent;

export function initialBlocks(): TurnBlocks {
  return { messages: new Map(), blocks: new Map(), steps: [], lastOrder: -1, end: null };
}

export function addToBlocks(turn: TurnBlocks, event: ProviderEvent): void {
  switch (event.type) {
    case "message.start":
      factsOf(turn, event.message).role = event.role;
      return;
    case "message.end":
      factsOf(turn, event.message).reason = event.reason;
      return;
    case "message.replaced":
      replaceText(turn, event);
      return;
    case "text.delta":
    case "reasoning.delta":
      append(turn, event, event.type === "text.delta" ? "text" : "reasoning");
      return;
    case "text.end":
      put(turn, event, { kind: "text", text: event.text, ending: endingOf(event) });
      return;
    case "reasoning.end":
      put(turn, event, {
        kind: "reasoning",
        text: event.text,
        ...(event.signature !== undefined && { signature: event.signature }),
        ...(event.redacted !== undefined && { redacted: event.redacted }),
        ending: endingOf(event),
      });
      return;
    case "tool.start":
      put(turn, event, { ...unreadCall(event.callId), name: event.name });
      return;
    case "tool.delta":
      appendInput(turn, event);
      return;
    case "tool.end":
      put(turn, event, endedCall(event.call, endingOf(event)));
      return;
    case "tool.result":
      put(turn, event, { kind: "result", result: event.result, ending: endingOf(event) });
      return;
    case "usage":
      turn.steps.push({
        usage: event.usage,
        ...(event.latencyMs !== undefined && { latencyMs: event.latencyMs }),
      });
      return;
    case "end":
      turn.end = event;
      return;
    case "hook":
    case "activity":
    case "diagnostic":
    case "unknown":
      // The session's log keeps these; they are no part of what the agent said or did with its tools.
      return;
    default:
      event satisfies never;
  }
}

export function blocksInOrder(turn: TurnBlocks): Block[] {
  return [...turn.blocks.values()].sort((left, right) => left.order - right.order);
}

/** A message that never started has no known speaker, and must not be put into the assistant's mouth. */
function factsOf(turn: TurnBlocks, message: number): MessageFacts {
  const known = turn.messages.get(message);
  if (known) return known;
  const facts: MessageFacts = { role: "other", reason: null };
  turn.messages.set(message, facts);
  return facts;
}

/** The replacement stands where the first text stood, else after all that was said before it. */
function replaceText(turn: TurnBlocks, { message, text }: MessageReplaced): void {
  const shown = blocksInOrder(turn).filter(
    (block) => block.kind === "text" && block.message === message,
  );
  // A withdrawn block stays, closed: its own end may still come and must not bring the text back.
  for (const { key, order } of shown)
    turn.blocks.set(key, { ...replacement(""), key, order, message });
  const key = shown[0]?.key ?? `m${message}`;
  const order = shown[0]?.order ?? turn.lastOrder + 0.5;
  turn.blocks.set(key, { ...replacement(text), key, order, message });
}

function replacement(text: string): TextContent {
  return { kind: "text", text, ending: "explicit" };
}

interface At {
  readonly message: number;
  readonly block: number;
}

function put(turn: TurnBlocks, at: At, content: Content): void {
  const key = String(at.block);
  const before = turn.blocks.get(key);
  if (before && before.ending !== "open") return;
  turn.lastOrder = Math.max(turn.lastOrder, at.block);
  turn.blocks.set(key, { ...content, key, order: at.block, message: at.message });
}

function append(
  turn: TurnBlocks,
  delta: At & { readonly text: string },
  kind: "text" | "reasoning",
): void {
  const before = turn.blocks.get(String(delta.block));
  const said = before?.kind === kind ? before.text : "";
  put(turn, delta, { kind, text: said + delta.text, ending: "open" });
}

function endingOf(event: { readonly implicitStop?: true }): Ending {
  return event.implicitStop ? "implicit" : "explicit";
}

function unreadCall(callId: string): CallContent {
  return { kind: "call", callId, name: "", inputText: "", readable: false, ending: "open" };
}

function appendInput(
  turn: TurnBlocks,
  delta: At & { readonly callId: string; readonly text: string },
): void {
  const before = turn.blocks.get(String(delta.block));
  const call = before?.kind === "call" ? before : unreadCall(delta.callId);
  put(turn, delta, { ...call, inputText: call.inputText + delta.text });
}

function endedCall(call: ToolCall, ending: Ending): CallContent {
  const { id, name, inputText, input } = call;
  return { kind: "call", callId: id, name, inputText, readable: input !== null, ending };
}
