import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { ModelMessage } from "../../domain/model/model-request.ts";
import { AbortError } from "../../domain/provider/provider-error.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import { snapshotTurn, type Turn } from "../../domain/provider/turn.ts";
import { addToTurn, createTurnBuilder } from "../../domain/provider/turn-builder.ts";
import { addUsage, type Usage } from "../../domain/usage.ts";
import { collectAgentMessages } from "./conversation-cache.ts";
import type { RepeatedToolCall, RepeatCheck } from "./repeat-check.ts";

export interface ModelTurnOptions {
  /** Sends a request to the model. `messages` are the agent's messages of this turn so far. */
  readonly requestModel: (messages: readonly ModelMessage[]) => AsyncIterable<ProviderEvent>;
  /** Emitted when the model starts to respond. */
  readonly hooks: readonly ProviderEvent[];
  readonly checkRepeat: RepeatCheck;
  /** The maximum of model requests per invocation. */
  readonly maxRounds: number;
  /** Called with the turn when it ends without a failure. */
  readonly onEnd: (turn: Turn) => void;
}

/**
 * Runs the model until its turn is done or waits for tool results. Repeated tool calls are answered here; if all tool
 * calls are repeats, the model is called again at once. Throws until the first event is received.
 */
export async function* runModelTurn(options: ModelTurnOptions): AsyncGenerator<ProviderEvent> {
  const stream = createTurnStream();
  let isOpen = false;
  try {
    for (let round = 1; ; round += 1) {
      const repeats = new Map<string, RepeatedToolCall>();
      let turnEnd: TurnEnd | undefined;
      for await (const event of options.requestModel(collectAgentMessages(stream.turn()))) {
        if (!isOpen) yield* options.hooks;
        isOpen = true;
        if (event.type === "end") turnEnd = event;
        else yield stream.add(answerRepeatedCall(event, options.checkRepeat, repeats));
      }
      if (turnEnd === undefined) return;
      const last = resolveTurnEnd(turnEnd, repeats, round >= options.maxRounds);
      if (turnEnd.outcome === "action-required")
        for (const resultEvent of stream.answer(repeats)) yield resultEvent;
      stream.count(turnEnd.usage);
      if (last === undefined) continue;
      const finalEvent = stream.add({ ...last, usage: stream.usage() });
      if (last.outcome !== "failed") options.onEnd(stream.turn());
      return yield finalEvent;
    }
  } catch (error) {
    if (!isOpen || error instanceof AbortError || !(error instanceof SpanlineError)) throw error;
    yield stream.add({ ...createFailedEnd(error.toFailure()), usage: stream.usage() });
  }
}

/** Marks a repeated tool call as answered here, so the caller does not run it. */
function answerRepeatedCall(
  event: Exclude<ProviderEvent, TurnEnd>,
  checkRepeat: RepeatCheck,
  repeats: Map<string, RepeatedToolCall>,
): ProviderEvent {
  if (event.type !== "tool.end") return event;
  const { toolCall } = event;
  const repeat = checkRepeat(toolCall);
  repeats.delete(toolCall.id);
  if (repeat === undefined) return event;
  repeats.set(toolCall.id, repeat);
  return { ...event, toolCall: { ...toolCall, runBy: "server" } };
}

/** The end of the turn. Undefined if the model must be called again. */
function resolveTurnEnd(
  end: TurnEnd,
  repeats: ReadonlyMap<string, RepeatedToolCall>,
  isLast: boolean,
): TurnEnd | undefined {
  if (end.outcome !== "action-required" || repeats.size === 0) return end;
  const openToolCallIds = end.openToolCallIds.filter((id) => !repeats.has(id));
  if (openToolCallIds.length > 0) return { ...end, openToolCallIds };
  if (!isLast) return undefined;
  return { ...end, outcome: "limited", reason: REPEATED_CALLS, openToolCallIds: [] };
}

/** The end reason of a turn that contained only repeated tool calls. */
const REPEATED_CALLS = "repeated_calls";

function createFailedEnd(failure: Failure): TurnEnd {
  return {
    type: "end",
    outcome: "failed",
    reason: null,
    openToolCallIds: [],
    usage: null,
    failure,
  };
}

/** Combines several model responses into a single stream with consecutive message and block numbers. */
function createTurnStream() {
  const turn = createTurnBuilder();
  let messages = 0;
  let blocks = 0;
  /** The message and block numbers at the start of the current response. */
  let offset = { message: 0, block: 0 };
  let sum: Usage | null = null;

  const note = (event: ProviderEvent): ProviderEvent => {
    if ("message" in event) messages = Math.max(messages, event.message + 1);
    if ("block" in event) blocks = Math.max(blocks, event.block + 1);
    addToTurn(turn, event);
    return event;
  };

  return {
    turn: (): Turn => snapshotTurn(turn),
    usage: (): Usage | null => sum,
    count(usage: Usage | null) {
      if (usage !== null) sum = sum === null ? usage : addUsage(sum, usage);
    },
    add: (event: ProviderEvent): ProviderEvent => note(offsetEvent(event, offset)),
    /** Emits the results of repeated tool calls in a separate message, like a provider that runs its own tools. */
    *answer(repeats: ReadonlyMap<string, RepeatedToolCall>): Generator<ProviderEvent> {
      if (repeats.size === 0) return;
      const message = messages;
      for (const { hook } of repeats.values()) yield note(hook);
      yield note({ type: "message.start", message, role: "user" });
      for (const { result } of repeats.values()) {
        yield note({ type: "tool.result", message, block: blocks, result });
      }
      yield note({ type: "message.end", message, reason: "tool_result" });
      offset = { message: messages, block: blocks };
    },
  };
}

function offsetEvent(
  event: ProviderEvent,
  offset: { readonly message: number; readonly block: number },
): ProviderEvent {
  if (offset.message === 0 || !("message" in event)) return event;
  const message = event.message + offset.message;
  return "block" in event
    ? { ...event, message, block: event.block + offset.block }
    : { ...event, message };
}
