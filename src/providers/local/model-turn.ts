import { SpanlineError, type Failure } from "../../domain/errors.ts";
import type { ModelMessage } from "../../domain/model-request.ts";
import { AbortError } from "../../domain/provider-error.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider-event.ts";
import { snapshotTurn, type Turn } from "../../domain/turn.ts";
import { addToTurn, initialTurn } from "../../domain/turn-state.ts";
import { addUsage, type Usage } from "../../domain/usage.ts";
import { saidIn } from "./conversations.ts";
import type { RepeatedCall, RepeatedCalls } from "./repeated-calls.ts";

export interface ModelTurn {
  /** Asks the model, with what was said in this turn so far. */
  readonly ask: (said: readonly ModelMessage[]) => AsyncIterable<ProviderEvent>;
  /** Shown once the model answers. */
  readonly hooks: readonly ProviderEvent[];
  readonly repeated: RepeatedCalls;
  /** How often the model is asked. */
  readonly rounds: number;
  /** Told what was said, when the turn ends in another way than a failure. */
  readonly ended: (turn: Turn) => void;
}

/**
 * What a model says until it is done, or waits for us. Calls that need not be run are answered here; where there are no
 * others, the model is asked again at once. Throws while there is no answer.
 */
export async function* modelTurn(work: ModelTurn): AsyncGenerator<ProviderEvent> {
  const stream = turnStream();
  let isOpen = false;
  try {
    for (let round = 1; ; round += 1) {
      const answered = new Map<string, RepeatedCall>();
      let end: TurnEnd | undefined;
      for await (const event of work.ask(saidIn(stream.turn()))) {
        if (!isOpen) yield* work.hooks;
        isOpen = true;
        if (event.type === "end") end = event;
        else yield stream.add(withoutRepeat(event, work.repeated, answered));
      }
      if (end === undefined) return;
      const last = endOf(end, answered, round >= work.rounds);
      if (end.outcome === "action-required") for (const made of stream.answer(answered)) yield made;
      stream.count(end.usage);
      if (last === undefined) continue;
      const whole = stream.add({ ...last, usage: stream.usage() });
      if (last.outcome !== "failed") work.ended(stream.turn());
      return yield whole;
    }
  } catch (error) {
    if (!isOpen || error instanceof AbortError || !(error instanceof SpanlineError)) throw error;
    yield stream.add({ ...failed(error.toFailure()), usage: stream.usage() });
  }
}

/** A call that was made before is not left to us: it is answered here. */
function withoutRepeat(
  event: Exclude<ProviderEvent, TurnEnd>,
  repeated: RepeatedCalls,
  answered: Map<string, RepeatedCall>,
): ProviderEvent {
  if (event.type !== "tool.end") return event;
  const { call } = event;
  const repeat = repeated(call);
  answered.delete(call.id);
  if (repeat === undefined) return event;
  answered.set(call.id, repeat);
  return { ...event, call: { ...call, runBy: "server" } };
}

/** How the turn ends; undefined when it goes on. */
function endOf(
  end: TurnEnd,
  answered: ReadonlyMap<string, RepeatedCall>,
  isLast: boolean,
): TurnEnd | undefined {
  if (end.outcome !== "action-required" || answered.size === 0) return end;
  const openCalls = end.openCalls.filter((id) => !answered.has(id));
  if (openCalls.length > 0) return { ...end, openCalls };
  if (!isLast) return undefined;
  return { ...end, outcome: "limited", reason: REPEATED_CALLS, openCalls: [] };
}

/** Our word for a turn of nothing but calls that were made before. */
const REPEATED_CALLS = "repeated_calls";

function failed(failure: Failure): TurnEnd {
  return { type: "end", outcome: "failed", reason: null, openCalls: [], usage: null, failure };
}

/** Numbers the messages and blocks of several answers as those of one. */
function turnStream() {
  const turn = initialTurn();
  let messages = 0;
  let blocks = 0;
  /** Where the answer at hand begins. */
  let from = { message: 0, block: 0 };
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
    add: (event: ProviderEvent): ProviderEvent => note(moved(event, from)),
    /** The results that are known already, in a message of their own, as any other that runs its own tools says them. */
    *answer(answered: ReadonlyMap<string, RepeatedCall>): Generator<ProviderEvent> {
      if (answered.size === 0) return;
      const message = messages;
      for (const { hook } of answered.values()) yield note(hook);
      yield note({ type: "message.start", message, role: "user" });
      for (const { result } of answered.values()) {
        yield note({ type: "tool.result", message, block: blocks, result });
      }
      yield note({ type: "message.end", message, reason: "tool_result" });
      from = { message: messages, block: blocks };
    },
  };
}

function moved(
  event: ProviderEvent,
  from: { readonly message: number; readonly block: number },
): ProviderEvent {
  if (from.message === 0 || !("message" in event)) return event;
  const message = event.message + from.message;
  return "block" in event
    ? { ...event, message, block: event.block + from.block }
    : { ...event, message };
}
