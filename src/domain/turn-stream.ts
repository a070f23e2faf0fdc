import type { AgentEvent, TurnFinished, TurnOutcome } from "./agent-event.ts";
import type { Codec, Emit } from "./codec.ts";
import type { Outcome, ProviderEvent, TurnEnd } from "./provider-event.ts";
import { cutCall } from "./tool.ts";

/** What has to be known of a turn to number its messages and blocks. */
export interface TurnStreamState {
  readonly messages: Map<string, number>;
  readonly blocks: Map<string, number>;
  /** Where each call stands: its message and block, and whether it was told in full. */
  readonly calls: Map<string, CallPlace>;
  openMessage: number | null;
  end: TurnEnd | null;
}

interface CallPlace {
  readonly message: number;
  readonly block: number;
  readonly name: string;
  isTold: boolean;
}

/**
 * A session's turn as one stream, as if the agent had run its tools itself: everything that reads a provider's stream
 * can show a turn, however many calls it took. Calls go by the session's ids, which are unique in it.
 */
export function turnStream(): Codec<TurnStreamState, AgentEvent, ProviderEvent> {
  return {
    initial: () => ({
      messages: new Map(),
      blocks: new Map(),
      calls: new Map(),
      openMessage: null,
      end: null,
    }),
    step(state, event, emit) {
      // What a session says after the turn is not part of it.
      if (state.end === null) step(state, event, emit);
    },
    finish: (state, emit) => emit(state.end ?? CUT),
  };
}

const CUT: TurnEnd = {
  type: "end",
  outcome: "failed",
  reason: null,
  openCalls: [],
  usage: null,
  failure: {
    code: "incomplete_turn",
    message: "The events stop before the turn does",
    details: {},
  },
};

function step(state: TurnStreamState, event: AgentEvent, emit: Emit<ProviderEvent>): void {
  switch (event.type) {
    case "message.started": {
      const message = numberOf(state.messages, event.messageId);
      state.openMessage = message;
      return emit({ type: "message.start", message, role: event.role });
    }
    case "message.finished": {
      state.openMessage = null;
      const message = numberOf(state.messages, event.messageId);
      return emit({ type: "message.end", message, reason: event.reason });
    }
    case "message.replaced": {
      const message = numberOf(state.messages, event.messageId);
      return emit({ type: "message.replaced", message, text: event.text });
    }
    case "text.delta":
      return emit({ type: "text.delta", ...placeOf(state, event), text: event.text });
    case "text.finished":
      return emit({ type: "text.end", ...endOf(state, event), text: event.text });
    case "thought.delta":
      return emit({ type: "reasoning.delta", ...placeOf(state, event), text: event.text });
    case "thought.finished": {
      const { text, signature, redacted } = event;
      return emit({
        type: "reasoning.end",
        ...endOf(state, event),
        text,
        ...(signature !== undefined && { signature }),
        ...(redacted !== undefined && { redacted }),
      });
    }
    case "tool.announced": {
      const { toolCallId, name } = event;
      const place = placeOf(state, event);
      state.calls.set(toolCallId, { ...place, name, isTold: false });
      return emit({ type: "tool.start", ...place, callId: toolCallId, name });
    }
    case "tool.input.delta": {
      const { toolCallId, text } = event;
      const known = state.calls.get(toolCallId);
      if (known === undefined) return;
      const { message, block } = known;
      return emit({ type: "tool.delta", message, block, callId: toolCallId, text });
    }
    case "tool.called": {
      const { toolCallId, call } = event;
      const place = state.calls.get(toolCallId) ?? placeOf(state, event);
      const { message, block } = place;
      state.calls.set(toolCallId, { message, block, name: call.name, isTold: true });
      return emit({ type: "tool.end", message, block, call: { ...call, id: toolCallId } });
    }
    case "tool.finished":
      return result(state, event, emit);
    case "usage.reported": {
      const { usage, latencyMs } = event;
      return emit({ type: "usage", usage, ...(latencyMs !== undefined && { latencyMs }) });
    }
    case "hook.fired": {
      const { type: _, ...hook } = event;
      return emit({ type: "hook", id: hook.name, ...hook });
    }
    case "activity.seen": {
      const { kind, toolCallId, label } = event;
      return emit({
        type: "activity",
        kind,
        ...(toolCallId !== undefined && { callId: toolCallId }),
        ...(label !== undefined && { label }),
      });
    }
    case "diagnostic.raised":
      return emit({ type: "diagnostic", diagnostic: event.diagnostic });
    case "unknown.reported":
      return emit({ type: "unknown", what: event.what, name: event.name, raw: event.raw });
    case "turn.finished":
      state.end = endOfTurn(event);
      return;
    default:
      return;
  }
}

type Finished = Extract<AgentEvent, { readonly type: "tool.finished" }>;

/** A result from the provider's side stands in the message that is open; one of ours in a message of its own. */
function result(
  state: TurnStreamState,
  { toolCallId, result: given }: Finished,
  emit: Emit<ProviderEvent>,
): void {
  const call = state.calls.get(toolCallId);
  if (call === undefined) return;
  if (!call.isTold) {
    const { message, block, name } = call;
    const facts = { id: toolCallId, name, inputText: "", runBy: "client" } as const;
    call.isTold = true;
    emit({ type: "tool.end", message, block, call: cutCall(facts) });
  }
  const isOwn = state.openMessage === null;
  const message = state.openMessage ?? numberOf(state.messages, `result of ${toolCallId}`);
  const block = numberOf(state.blocks, `result of ${toolCallId}`);
  if (isOwn) emit({ type: "message.start", message, role: "user" });
  emit({ type: "tool.result", message, block, result: { ...given, callId: toolCallId } });
  if (isOwn) emit({ type: "message.end", message, reason: null });
}

interface At {
  readonly messageId: string;
  readonly block: number;
}

function placeOf(state: TurnStreamState, { messageId, block }: At) {
  return {
    message: numberOf(state.messages, messageId),
    block: numberOf(state.blocks, `${messageId}/${block}`),
  };
}

function endOf(state: TurnStreamState, event: At & { readonly interrupted?: true }) {
  const place = placeOf(state, event);
  return event.interrupted === true ? { ...place, implicitStop: true as const } : place;
}

function numberOf(known: Map<string, number>, key: string): number {
  const before = known.get(key);
  if (before !== undefined) return before;
  known.set(key, known.size);
  return known.size - 1;
}

const OUTCOMES: { readonly [Ended in TurnOutcome]: Outcome } = {
  completed: "completed",
  limited: "limited",
  failed: "failed",
  cancelled: "other",
};

function endOfTurn({ outcome, reason, usage, failure }: TurnFinished): TurnEnd {
  return {
    type: "end",
    outcome: OUTCOMES[outcome],
    reason: outcome === "cancelled" ? "cancelled" : reason,
    openCalls: [],
    usage,
    ...(failure !== undefined && { failure }),
  };
}
