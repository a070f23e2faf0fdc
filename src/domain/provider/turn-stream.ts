import type { SessionEvent } from "../events/session-event.ts";
import type {
  ToolCallInputDelta,
  ToolCallOpened,
  ToolCallReceived,
  ToolFinished,
} from "../events/tool-events.ts";
import type { TurnFinished, TurnOutcome } from "../events/turn-events.ts";
import type { Codec, Emit } from "../codec.ts";
import type { Outcome, ProviderEvent, TurnEnd } from "./provider-event.ts";
import { createCutToolCall } from "../tools/tool-call.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** State for numbering the messages and blocks of a turn. */
export interface TurnStreamState {
  readonly messages: Map<string, number>;
  readonly blocks: Map<string, number>;
  /** Position of each tool call, and whether its arguments are complete. */
  readonly toolCalls: Map<string, ToolCallPosition>;
  openMessage: number | null;
  end: TurnEnd | null;
}

interface ToolCallPosition {
  readonly message: number;
  readonly block: number;
  readonly name: string;
  isComplete: boolean;
}

/**
 * Encodes the events of a session's turn as a single provider stream, as if the agent had run its tools itself. Readers
 * of provider streams can therefore display a turn with any number of invocations. Tool calls have the session's ids,
 * which are unique in the session.
 */
export function createTurnStream(): Codec<TurnStreamState, SessionEvent, ProviderEvent> {
  return {
    initial: () => ({
      messages: new Map(),
      blocks: new Map(),
      toolCalls: new Map(),
      openMessage: null,
      end: null,
    }),
    step(state, event, emit) {
      // Later events of the session are not part of the turn.
      if (state.end === null) encodeEvent(state, event, emit);
    },
    finish: (state, emit) => emit(state.end ?? CUT_END),
  };
}

const CUT_END: TurnEnd = {
  type: "end",
  outcome: "failed",
  reason: null,
  openToolCallIds: [],
  usage: null,
  failure: {
    code: "incomplete_turn",
    message: "The events stop before the turn does",
    details: {},
  },
};

function encodeEvent(state: TurnStreamState, event: SessionEvent, emit: Emit<ProviderEvent>): void {
  switch (event.type) {
    case "message.started": {
      const message = resolveNumber(state.messages, event.messageId);
      state.openMessage = message;
      return emit({ type: "message.start", message, role: event.role });
    }
    case "message.finished": {
      state.openMessage = null;
      const message = resolveNumber(state.messages, event.messageId);
      return emit({ type: "message.end", message, reason: event.reason });
    }
    case "message.replaced": {
      const message = resolveNumber(state.messages, event.messageId);
      return emit({ type: "message.replaced", message, text: event.text });
    }
    case "text.delta":
      return emit({ type: "text.delta", ...resolvePosition(state, event), text: event.text });
    case "text.finished":
      return emit({ type: "text.end", ...resolveEnd(state, event), text: event.text });
    case "thought.delta":
      return emit({ type: "reasoning.delta", ...resolvePosition(state, event), text: event.text });
    case "thought.finished": {
      const { text, signature, redacted } = event;
      const content = { text, ...omitUndefined({ signature, redacted }) };
      return emit({ type: "reasoning.end", ...resolveEnd(state, event), ...content });
    }
    case "tool_call.opened":
      return openToolCall(state, event, emit);
    case "tool_call.input.delta":
      return encodeInput(state, event, emit);
    case "tool_call.received":
      return completeToolCall(state, event, emit);
    case "tool.finished":
      return encodeResult(state, event, emit);
    case "usage.reported": {
      const { usage, latencyMs } = event;
      return emit({ type: "usage", usage, ...omitUndefined({ latencyMs }) });
    }
    case "hook.fired": {
      const { type: _, ...hook } = event;
      return emit({ type: "hook", id: hook.name, ...hook });
    }
    case "provider.activity": {
      const { kind, toolCallId, label } = event;
      return emit({ type: "activity", kind, ...omitUndefined({ toolCallId, label }) });
    }
    case "diagnostic.raised":
      return emit({ type: "diagnostic", diagnostic: event.diagnostic });
    case "provider.unknown":
      return emit({ type: "unknown", what: event.what, name: event.name, raw: event.raw });
    case "turn.finished":
      state.end = toTurnEnd(event);
      return;
    default:
      return;
  }
}

function openToolCall(
  state: TurnStreamState,
  event: ToolCallOpened,
  emit: Emit<ProviderEvent>,
): void {
  const { toolCallId, name } = event;
  const position = resolvePosition(state, event);
  state.toolCalls.set(toolCallId, { ...position, name, isComplete: false });
  emit({ type: "tool.start", ...position, toolCallId, name });
}

function encodeInput(
  state: TurnStreamState,
  { toolCallId, text }: ToolCallInputDelta,
  emit: Emit<ProviderEvent>,
): void {
  const toolCall = state.toolCalls.get(toolCallId);
  if (toolCall === undefined) return;
  const { message, block } = toolCall;
  emit({ type: "tool.delta", message, block, toolCallId, text });
}

function completeToolCall(
  state: TurnStreamState,
  event: ToolCallReceived,
  emit: Emit<ProviderEvent>,
): void {
  const { toolCallId, toolCall } = event;
  const { message, block } = state.toolCalls.get(toolCallId) ?? resolvePosition(state, event);
  state.toolCalls.set(toolCallId, { message, block, name: toolCall.name, isComplete: true });
  emit({ type: "tool.end", message, block, toolCall: { ...toolCall, id: toolCallId } });
}

/** A result from the provider belongs to the open message; the result of a tool run here gets a separate message. */
function encodeResult(
  state: TurnStreamState,
  { toolCallId, result: toolResult }: ToolFinished,
  emit: Emit<ProviderEvent>,
): void {
  const call = state.toolCalls.get(toolCallId);
  if (call === undefined) return;
  if (!call.isComplete) {
    const { message, block, name } = call;
    const facts = { id: toolCallId, name, inputText: "", runBy: "client" } as const;
    call.isComplete = true;
    emit({ type: "tool.end", message, block, toolCall: createCutToolCall(facts) });
  }
  const needsMessage = state.openMessage === null;
  const message = state.openMessage ?? resolveNumber(state.messages, `result of ${toolCallId}`);
  const block = resolveNumber(state.blocks, `result of ${toolCallId}`);
  if (needsMessage) emit({ type: "message.start", message, role: "user" });
  emit({ type: "tool.result", message, block, result: { ...toolResult, toolCallId } });
  if (needsMessage) emit({ type: "message.end", message, reason: null });
}

interface BlockPosition {
  readonly messageId: string;
  readonly block: number;
}

function resolvePosition(state: TurnStreamState, { messageId, block }: BlockPosition) {
  return {
    message: resolveNumber(state.messages, messageId),
    block: resolveNumber(state.blocks, `${messageId}/${block}`),
  };
}

function resolveEnd(
  state: TurnStreamState,
  event: BlockPosition & { readonly interrupted?: true },
) {
  const position = resolvePosition(state, event);
  return event.interrupted === true ? { ...position, implicitStop: true as const } : position;
}

function resolveNumber(numbers: Map<string, number>, key: string): number {
  const existing = numbers.get(key);
  if (existing !== undefined) return existing;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

const PROVIDER_OUTCOMES: { readonly [Ended in TurnOutcome]: Outcome } = {
  completed: "completed",
  limited: "limited",
  failed: "failed",
  cancelled: "other",
};

function toTurnEnd({ outcome, reason, usage, failure }: TurnFinished): TurnEnd {
  return {
    type: "end",
    outcome: PROVIDER_OUTCOMES[outcome],
    reason: outcome === "cancelled" ? "cancelled" : reason,
    openToolCallIds: [],
    usage,
    ...omitUndefined({ failure }),
  };
}
