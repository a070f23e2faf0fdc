import type { Takes } from "../../src/domain/agent-event.ts";
import { SpanlineError, type ErrorCode, type Failure } from "../../src/domain/errors.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import type { ModelMessage } from "../../src/domain/model-request.ts";
import type { ProviderEvent, TurnEnd } from "../../src/domain/provider-event.ts";
import { toolCall } from "../../src/domain/tool.ts";
import type {
  CallInput,
  CallOptions,
  Provider,
  ProviderCall,
  Seam,
  TurnProgress,
} from "../../src/providers/provider.ts";

/** One call that was made, as the provider saw it. */
export interface SeenCall {
  readonly sessionId: string;
  readonly history: readonly ModelMessage[];
  readonly input: CallInput;
  readonly turn?: TurnProgress;
  /** What else the call was given. */
  readonly options?: Omit<CallOptions, "signal" | "turn">;
}

export type Answer = (signal: AbortSignal, call: SeenCall) => AsyncIterable<ProviderEvent>;

export interface ScriptedProvider extends Provider {
  readonly calls: readonly SeenCall[];
  /** The ids of conversations that were stopped. */
  readonly stopped: readonly string[];
}

interface ScriptedOptions {
  readonly effectFree?: boolean;
  readonly keepsHistory?: boolean;
  readonly seams?: readonly Seam[];
  readonly takes?: Takes;
  /** Happens while a conversation is being stopped. */
  onStop?(signal: AbortSignal): Promise<void>;
}

/** A provider whose answers a test says, one for each call, in order; the last one for all that follow. */
export function scriptedProvider(
  answers: readonly Answer[],
  options: ScriptedOptions = {},
): ScriptedProvider {
  const {
    effectFree = false,
    keepsHistory = true,
    seams = ["turn-start", "tool-results", "turn-end"],
    takes,
  } = options;
  const calls: SeenCall[] = [];
  const stopped: string[] = [];
  return {
    name: "scripted",
    seams,
    effectFree,
    keepsHistory,
    ...(takes !== undefined && { takes }),
    calls,
    stopped,
    open({ sessionId = "", history = [] } = {}) {
      return {
        id: sessionId,
        async call(input, { signal, turn, ...rest }) {
          const progress = turn === undefined ? {} : { turn };
          const given = Object.keys(rest).length === 0 ? {} : { options: rest };
          const call = { sessionId, history, input, ...progress, ...given };
          calls.push(call);
          const answer = answers[calls.length - 1] ?? answers.at(-1);
          if (answer === undefined) throw new Error("Nothing was scripted");
          return asCall(answer(signal, call));
        },
        async stop({ signal }) {
          stopped.push(sessionId);
          await options.onStop?.(signal);
        },
      };
    },
  };
}

/** What is wrong before there is a stream is thrown when the call is made. */
async function asCall(events: AsyncIterable<ProviderEvent>): Promise<ProviderCall> {
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  return {
    requestId: "req-1",
    close: () => undefined,
    async *[Symbol.asyncIterator]() {
      try {
        for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
      } finally {
        await iterator.return?.();
      }
    },
  };
}

export function says(text: string, end: Partial<TurnEnd> = {}): Answer {
  return async function* () {
    yield* message([...textBlock(0, text)], "end_turn");
    yield ending({ outcome: "completed", reason: "end_turn", ...end });
  };
}

export interface Wanted {
  readonly id: string;
  readonly name: string;
  readonly input?: JsonObject;
  /** Sent as it is, right or wrong. */
  readonly inputText?: string;
}

export function wants(...calls: readonly Wanted[]): Answer {
  return async function* () {
    yield* message([...textBlock(0, "Let me see."), ...callBlocks(calls)], "tool_use");
    const openCalls = calls.map(({ id }) => id);
    yield ending({ outcome: "action-required", reason: "tool_use", openCalls });
  };
}

/** Says the beginning of something, and then nothing until it is told to stop. */
export function hangs(text = "Well"): Answer {
  return async function* (signal) {
    yield { type: "message.start", message: 0, role: "assistant" };
    yield { type: "text.delta", message: 0, block: 0, text };
    await aborted(signal);
    throw signal.reason;
  };
}

/** The connection breaks in the middle of the answer. */
export function breaks(code: ErrorCode = "connection_lost"): Answer {
  return async function* () {
    yield { type: "message.start", message: 0, role: "assistant" };
    yield { type: "text.delta", message: 0, block: 0, text: "Half of" };
    yield ending({ outcome: "failed", failure: failure(code) });
  };
}

/** There never is a stream. */
export function refuses(code: ErrorCode): Answer {
  // eslint-disable-next-line require-yield
  return async function* () {
    throw new SpanlineError(code, `Refused with ${code}`);
  };
}

export function failure(code: ErrorCode): Failure {
  return { code, message: `It ended with ${code}`, details: {} };
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

export function ending(end: Partial<TurnEnd> & Pick<TurnEnd, "outcome">): TurnEnd {
  return { type: "end", reason: null, openCalls: [], usage: null, ...end };
}

export function* message(
  content: readonly ProviderEvent[],
  reason: string,
): Generator<ProviderEvent> {
  yield { type: "message.start", message: 0, role: "assistant" };
  yield* content;
  yield { type: "message.end", message: 0, reason };
}

function* textBlock(block: number, text: string): Generator<ProviderEvent> {
  yield { type: "text.delta", message: 0, block, text };
  yield { type: "text.end", message: 0, block, text };
}

export function* callBlocks(calls: readonly Wanted[]): Generator<ProviderEvent> {
  for (const [index, { id, name, input = {}, inputText }] of calls.entries()) {
    const at = { message: 0, block: index + 1 };
    const facts = { id, name, inputText: inputText ?? JSON.stringify(input) };
    yield { type: "tool.start", ...at, callId: id, name };
    yield { type: "tool.end", ...at, call: toolCall({ ...facts, runBy: "client" }) };
  }
}
