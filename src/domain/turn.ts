import type { Diagnostic } from "./diagnostic.ts";
import type { ProviderEvent, Role, TurnEnd, UnknownSeen } from "./provider-event.ts";
import type { ToolCall, ToolResult } from "./tool.ts";
import { addUsage, type Usage } from "./usage.ts";

export type TurnBlock =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "reasoning";
      readonly text: string;
      readonly signature?: string;
      readonly redacted?: string;
    }
  | { readonly type: "call"; readonly call: ToolCall }
  | { readonly type: "result"; readonly result: ToolResult };

export interface TurnMessage {
  readonly role: Role;
  /** In the order they were opened. */
  readonly blocks: readonly TurnBlock[];
  /** The provider's own word for why it stopped; null while open or when the stream never said. */
  readonly reason: string | null;
}

/** A call that ran on the provider's side. */
export interface ServerCall {
  readonly call: ToolCall;
  readonly result: ToolResult | null;
}

/** Everything one invocation said, gathered. */
export interface Turn {
  readonly messages: readonly TurnMessage[];
  /** Calls that wait for us, in the order they were first seen. */
  readonly calls: readonly ToolCall[];
  readonly serverCalls: readonly ServerCall[];
  /** All assistant text, block after block. */
  readonly text: string;
  /** The text of the last assistant message alone. */
  readonly finalText: string;
  readonly usage: Usage | null;
  /** How it ended; null while the stream is still running. */
  readonly end: TurnEnd | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly unknown: readonly UnknownSeen[];
}

interface OpenMessage {
  readonly role: Role;
  readonly blocks: Map<number, TurnBlock>;
  /** Text blocks that a replacement took back; their late ends must not bring them in again. */
  readonly withdrawn: Set<number>;
  reason: string | null;
}

/** The growing turn: `initialTurn`, then `addToTurn` for every event; `snapshotTurn` at any moment. */
export interface TurnState {
  readonly messages: Map<number, OpenMessage>;
  /** In the order first seen; null until its end. The last opening's content counts when an id is repeated. */
  readonly calls: Map<string, ToolCall | null>;
  readonly results: Map<string, ToolResult>;
  readonly diagnostics: Diagnostic[];
  readonly unknown: UnknownSeen[];
  usage: Usage | null;
  end: TurnEnd | null;
}

export function initialTurn(): TurnState {
  return {
    messages: new Map(),
    calls: new Map(),
    results: new Map(),
    diagnostics: [],
    unknown: [],
    usage: null,
    end: null,
  };
}

export function addToTurn(turn: TurnState, event: ProviderEvent): void {
  switch (event.type) {
    case "message.start":
      turn.messages.set(event.message, {
        role: event.role,
        blocks: new Map(),
        withdrawn: new Set(),
        reason: null,
      });
      return;
    case "message.end": {
      const message = turn.messages.get(event.message);
      if (message) message.reason = event.reason;
      return;
    }
    case "message.replaced":
      replaceText(turn, event.message, event.text);
      return;
    case "text.delta":
      appendText(turn, event, "text");
      return;
    case "reasoning.delta":
      appendText(turn, event, "reasoning");
      return;
    case "text.end":
      setBlock(turn, event, { type: "text", text: event.text });
      return;
    case "reasoning.end":
      setBlock(turn, event, {
        type: "reasoning",
        text: event.text,
        ...(event.signature !== undefined && { signature: event.signature }),
        ...(event.redacted !== undefined && { redacted: event.redacted }),
      });
      return;
    case "tool.end":
      turn.calls.set(event.call.id, event.call);
      setBlock(turn, event, { type: "call", call: event.call });
      return;
    case "tool.result":
      turn.results.set(event.result.callId, event.result);
      setBlock(turn, event, { type: "result", result: event.result });
      return;
    case "usage":
      turn.usage = turn.usage === null ? event.usage : addUsage(turn.usage, event.usage);
      return;
    case "diagnostic":
      turn.diagnostics.push(event.diagnostic);
      return;
    case "unknown":
      turn.unknown.push(event);
      return;
    case "end":
      turn.end = event;
      return;
    case "tool.start":
      if (!turn.calls.has(event.callId)) turn.calls.set(event.callId, null);
      // A call that is opened again after its result is a new call under an old id: it has no result yet.
      turn.results.delete(event.callId);
      return;
    case "tool.delta":
    case "hook":
    case "activity":
      return;
    default:
      event satisfies never;
  }
}

export function snapshotTurn(turn: TurnState): Turn {
  const messages = [...turn.messages.values()].map(({ role, blocks, reason }): TurnMessage => ({
    role,
    reason,
    blocks: lastOfEachCall(
      [...blocks].sort(([left], [right]) => left - right),
      turn.calls,
    ),
  }));
  const assistant = messages.filter((message) => message.role === "assistant").map(textOf);
  const calls = [...turn.calls.values()].filter((call) => call !== null);
  return {
    messages,
    calls: calls.filter((call) => call.runBy === "client" && !turn.results.has(call.id)),
    serverCalls: calls
      .filter((call) => call.runBy === "server" || turn.results.has(call.id))
      .map((call) => ({ call, result: turn.results.get(call.id) ?? null })),
    text: assistant.join(""),
    finalText: assistant.at(-1) ?? "",
    usage: turn.usage,
    end: turn.end,
    diagnostics: [...turn.diagnostics],
    unknown: [...turn.unknown],
  };
}

/** Gathers a whole list of events. */
export function turnOf(events: Iterable<ProviderEvent>): Turn {
  const turn = initialTurn();
  for (const event of events) addToTurn(turn, event);
  return snapshotTurn(turn);
}

function setBlock(
  turn: TurnState,
  at: { readonly message: number; readonly block: number },
  block: TurnBlock,
): void {
  const message = turn.messages.get(at.message);
  if (message !== undefined && !message.withdrawn.has(at.block))
    message.blocks.set(at.block, block);
}

function appendText(
  turn: TurnState,
  delta: { readonly message: number; readonly block: number; readonly text: string },
  type: "text" | "reasoning",
): void {
  const before = turn.messages.get(delta.message)?.blocks.get(delta.block);
  const text = before?.type === type ? before.text + delta.text : delta.text;
  setBlock(turn, delta, { type, text });
}

/** The replacement stands where the first text stood; calls and results of the message stay. */
function replaceText(turn: TurnState, number: number, text: string): void {
  const message = turn.messages.get(number);
  if (message === undefined) return;
  const { blocks, withdrawn } = message;
  const shown = [...blocks].filter(([, block]) => block.type === "text").map(([block]) => block);
  for (const block of shown) {
    blocks.delete(block);
    withdrawn.add(block);
  }
  // Block numbers are whole: half a step behind the last one is free.
  const place = shown[0] ?? Math.max(-1, ...blocks.keys()) + 0.5;
  blocks.set(place, { type: "text", text });
}

/** A repeated id is one call: it keeps the place of its first opening and the content of its last. */
function lastOfEachCall(
  blocks: readonly (readonly [number, TurnBlock])[],
  calls: ReadonlyMap<string, ToolCall | null>,
): TurnBlock[] {
  const seen = new Set<string>();
  const kept: TurnBlock[] = [];
  for (const [, block] of blocks) {
    if (block.type !== "call") {
      kept.push(block);
      continue;
    }
    if (seen.has(block.call.id)) continue;
    seen.add(block.call.id);
    kept.push({ type: "call", call: calls.get(block.call.id) ?? block.call });
  }
  return kept;
}

function textOf(message: TurnMessage): string {
  return message.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}
