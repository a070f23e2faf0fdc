import type { ProviderCapabilities } from "../../../src/domain/agent-spec.ts";
import { SpanlineError, type ErrorCode, type Failure } from "../../../src/domain/errors.ts";
import type { JsonObject } from "../../../src/data/json.ts";
import type { ModelMessage } from "../../../src/domain/model/model-request.ts";
import type { ProviderEvent, TurnEnd } from "../../../src/domain/provider/provider-event.ts";
import { createToolCall } from "../../../src/domain/tools/tool-call.ts";
import type {
  InvocationInput,
  InvocationOptions,
  Provider,
  ProviderInvocation,
  InjectionPoint,
  TurnProgress,
} from "../../../src/providers/provider.ts";

/** An invocation as received by the provider. */
export interface ReceivedInvocation {
  readonly sessionId: string;
  readonly history: readonly ModelMessage[];
  readonly input: InvocationInput;
  readonly turn?: TurnProgress;
  /** The other options of the invocation. */
  readonly options?: Omit<InvocationOptions, "signal" | "turn">;
}

export type ProviderScript = (
  signal: AbortSignal,
  call: ReceivedInvocation,
) => AsyncIterable<ProviderEvent>;

export interface ScriptedProvider extends Provider {
  readonly invocations: readonly ReceivedInvocation[];
  /** The ids of stopped sessions. */
  readonly stoppedSessions: readonly string[];
}

interface ScriptedOptions {
  readonly effectFree?: boolean;
  readonly keepsHistory?: boolean;
  readonly injectionPoints?: readonly InjectionPoint[];
  readonly capabilities?: ProviderCapabilities;
  /** Called while a session is being stopped. */
  onStop?(signal: AbortSignal): Promise<void>;
}

/** A scripted provider with one response per invocation. The last response is repeated. */
export function createScriptedProvider(
  answers: readonly ProviderScript[],
  options: ScriptedOptions = {},
): ScriptedProvider {
  const {
    effectFree = false,
    keepsHistory = true,
    injectionPoints = ["turn-start", "tool-results", "turn-end"],
    capabilities,
  } = options;
  const invocations: ReceivedInvocation[] = [];
  const stoppedSessions: string[] = [];
  return {
    name: "scripted",
    injectionPoints,
    effectFree,
    keepsHistory,
    ...(capabilities !== undefined && { capabilities }),
    invocations,
    stoppedSessions,
    open({ sessionId = "", history = [] } = {}) {
      return {
        id: sessionId,
        async invoke(input, { signal, turn, ...rest }) {
          const progress = turn === undefined ? {} : { turn };
          const extraOptions = Object.keys(rest).length === 0 ? {} : { options: rest };
          const call = { sessionId, history, input, ...progress, ...extraOptions };
          invocations.push(call);
          const answer = answers[invocations.length - 1] ?? answers.at(-1);
          if (answer === undefined) throw new Error("Nothing was scripted");
          return toInvocation(answer(signal, call));
        },
        async stop({ signal }) {
          stoppedSessions.push(sessionId);
          await options.onStop?.(signal);
        },
      };
    },
  };
}

/** An error before the first event rejects the invocation. */
async function toInvocation(events: AsyncIterable<ProviderEvent>): Promise<ProviderInvocation> {
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

export function says(text: string, end: Partial<TurnEnd> = {}): ProviderScript {
  return async function* () {
    yield* generateMessage([...generateTextBlock(0, text)], "end_turn");
    yield createTurnEnd({ outcome: "completed", reason: "end_turn", ...end });
  };
}

export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  readonly input?: JsonObject;
  /** Raw argument text, which may be invalid. */
  readonly inputText?: string;
}

export function wants(...calls: readonly ScriptedToolCall[]): ProviderScript {
  return async function* () {
    yield* generateMessage(
      [...generateTextBlock(0, "Let me see."), ...generateCallBlocks(calls)],
      "tool_use",
    );
    const openToolCallIds = calls.map(({ id }) => id);
    yield createTurnEnd({ outcome: "action-required", reason: "tool_use", openToolCallIds });
  };
}

/** Starts a response, then waits until it is aborted. */
export function hangs(text = "Well"): ProviderScript {
  return async function* (signal) {
    yield { type: "message.start", message: 0, role: "assistant" };
    yield { type: "text.delta", message: 0, block: 0, text };
    await waitForAbort(signal);
    throw signal.reason;
  };
}

/** The connection breaks in the middle of the response. */
export function breaks(code: ErrorCode = "connection_lost"): ProviderScript {
  return async function* () {
    yield { type: "message.start", message: 0, role: "assistant" };
    yield { type: "text.delta", message: 0, block: 0, text: "Half of" };
    yield createTurnEnd({ outcome: "failed", failure: createFailure(code) });
  };
}

/** The invocation is refused before a stream starts. */
export function refuses(code: ErrorCode): ProviderScript {
  // eslint-disable-next-line require-yield
  return async function* () {
    throw new SpanlineError(code, `Refused with ${code}`);
  };
}

export function createFailure(code: ErrorCode): Failure {
  return { code, message: `It ended with ${code}`, details: {} };
}

export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

export function createTurnEnd(end: Partial<TurnEnd> & Pick<TurnEnd, "outcome">): TurnEnd {
  return { type: "end", reason: null, openToolCallIds: [], usage: null, ...end };
}

export function* generateMessage(
  content: readonly ProviderEvent[],
  reason: string,
): Generator<ProviderEvent> {
  yield { type: "message.start", message: 0, role: "assistant" };
  yield* content;
  yield { type: "message.end", message: 0, reason };
}

function* generateTextBlock(block: number, text: string): Generator<ProviderEvent> {
  yield { type: "text.delta", message: 0, block, text };
  yield { type: "text.end", message: 0, block, text };
}

export function* generateCallBlocks(calls: readonly ScriptedToolCall[]): Generator<ProviderEvent> {
  for (const [index, { id, name, input = {}, inputText }] of calls.entries()) {
    const at = { message: 0, block: index + 1 };
    const facts = { id, name, inputText: inputText ?? JSON.stringify(input) };
    yield { type: "tool.start", ...at, toolCallId: id, name };
    yield { type: "tool.end", ...at, toolCall: createToolCall({ ...facts, runBy: "client" }) };
  }
}
