import type { ProviderCapabilities } from "../domain/agent-spec.ts";
import type { CommandEvent } from "../domain/provider/command-event.ts";
import type { ImageBlock } from "../domain/model/image-block.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import type { ToolCall, ToolResult } from "../domain/tools/tool-call.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import type { Turn } from "../domain/provider/turn.ts";

/**
 * Runs the loop of an agent. Every provider passes the suite in `test/contracts/provider-contract.ts`.
 *
 * ```ts
 * const provider: Provider = localProvider({ model });
 * const session = provider.open();
 * const events: ProviderEvent[] = [];
 * const invocation = await session.invoke({ type: "prompt", texts: ["Is it raining?"] }, { signal, tools });
 * for await (const event of invocation) events.push(event);
 *
 * // The agent waits for the results of its tool calls: the next invocation submits them.
 * const turn = buildTurn(events);
 * if (turn.end?.outcome === "action-required") {
 *   const results = await Promise.all(turn.toolCalls.map(runTool));
 *   await session.invoke({ type: "results", turn, results }, { signal, tools });
 * }
 * ```
 *
 * A provider without a capability does not have the method for it.
 */
export interface Provider {
  readonly name: string;
  /** Where text can be added to a turn. All other text waits for the next turn. */
  readonly injectionPoints: readonly InjectionPoint[];
  /** True if a lost invocation may be repeated, because it has no effects apart from its response. */
  readonly effectFree: boolean;
  /**
   * False if the agent has no memory between invocations: the caller must pass the whole history each time. Default:
   * true.
   */
  readonly keepsHistory?: boolean;
  /**
   * The supported invocation options, and support for images. Callers must not use the other options. Default: none.
   */
  readonly capabilities?: ProviderCapabilities;
  /** Rejects if an invocation would certainly be refused, for example without credentials. Sends no request. */
  checkCredentials?(): Promise<void>;
  /**
   * Counts the tokens of messages with the tokenizer of the model. Resolves to null if these messages cannot be
   * counted. A provider without a tokenizer does not have this method: callers then estimate.
   */
  countTokens?(
    messages: readonly ModelMessage[],
    options: { readonly signal: AbortSignal },
  ): Promise<number | null>;
  /** Resumes or starts a conversation. Sends no request. Throws if the options are invalid. */
  open(options?: OpenOptions): ProviderSession;
}

/**
 * - `turn-start`: together with the prompt.
 * - `tool-results`: as text after tool results.
 * - `turn-end`: after the end of a turn, as the next prompt.
 */
export type InjectionPoint = "turn-start" | "tool-results" | "turn-end";

export interface OpenOptions {
  /** The id of an existing conversation, or the id for a new conversation. Default: a new id. */
  readonly sessionId?: string;
  /**
   * Earlier messages, for a conversation started elsewhere. They are sent with the first invocation, before its input,
   * and again with the next if the agent did not respond. Use `history` only with a `sessionId` without messages:
   * otherwise the agent has both. For a provider with `keepsHistory: false`, these messages are all that the agent
   * knows, and every `open` must pass them.
   */
  readonly history?: readonly ModelMessage[];
  /**
   * The number of first messages in `history` that are the same unchanged objects whenever this conversation is opened
   * again. A provider may cache their encoding. Default: 0.
   */
  readonly stableCount?: number;
}

export interface ProviderSession {
  /** Known before the first invocation, so the id can be stored before any effect. */
  readonly id: string;
  /**
   * Starts an invocation once. Rejects before the stream starts; a later failure is part of the `end` event. A stream
   * throws only if the caller aborts: an `AbortError` with the signal's reason.
   */
  invoke(input: InvocationInput, options: InvocationOptions): Promise<ProviderInvocation>;
  /** Stops the machine of the conversation. Memory which the agent stores outside this machine remains. */
  stop?(options: StopOptions): Promise<void>;
  /** Runs a command on the agent's machine, independent of the agent. */
  runCommand?(command: string, options: CommandOptions): Promise<CommandRun>;
}

/** New input only: the agent stores its history, or receives it with `OpenOptions.history`. */
export type InvocationInput =
  | {
      readonly type: "prompt";
      readonly texts: readonly string[];
      /** Placed before the texts. Only if the provider supports images. */
      readonly images?: readonly ImageBlock[];
    }
  /** The results of the open tool calls of a turn. `texts` follow the results. */
  | {
      readonly type: "results";
      readonly turn: Pick<Turn, "messages" | "toolCalls">;
      readonly results: readonly ToolResult[];
      readonly texts?: readonly string[];
      readonly images?: readonly ImageBlock[];
    };

export interface InvocationOptions {
  readonly signal: AbortSignal;
  /** Tools that run in this process, in addition to the agent's own tools. Default: none. */
  readonly tools?: readonly OfferedTool[];
  /** Added to the agent's own instructions. Replaces them if the provider has only a single place for instructions. */
  readonly instructions?: string;
  /** The maximum of output tokens. */
  readonly maxOutputTokens?: number;
  /** The only tools that may be called, including tools on the provider's side. Empty: no tools. Default: all. */
  readonly allowedTools?: readonly string[];
  /** The trace context for distributed tracing. Ignored by providers without support. */
  readonly trace?: TraceContext;
  /** The progress of the turn, for a provider whose loop runs in this process. Ignored by the others. */
  readonly turn?: TurnProgress;
  /** Receives the bytes of the response before they are decoded. */
  readonly tap?: (chunk: Uint8Array) => void;
}

/** The progress of a turn at the start of an invocation. */
export interface TurnProgress {
  /** The number of invocations left in the turn, including this one. */
  readonly remainingInvocations: number;
  /** The answered tool calls of this turn, in order. */
  readonly answeredToolCalls: readonly AnsweredToolCall[];
  /** A tool that must be called before the turn may end, and has not been called yet. Absent if there is none. */
  readonly terminalTool?: string;
}

export interface AnsweredToolCall {
  readonly toolCall: ToolCall;
  readonly result: ToolResult;
}

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly schema: object;
}

/** Events in the order of arrival. Can be read once. Leaving the loop early closes the connection at once. */
export interface EventStream<Event> extends AsyncIterable<Event> {
  /** The request id assigned by the provider, for support requests. */
  readonly requestId: string | undefined;
  /** Closes the connection. Call this if the events are not read. */
  close(): void;
}

export type ProviderInvocation = EventStream<ProviderEvent>;

export interface StopOptions {
  readonly signal: AbortSignal;
}

export interface CommandOptions {
  readonly signal: AbortSignal;
  /** The timeout of the command on the agent's machine. Default: the provider's timeout. */
  readonly timeoutSeconds?: number;
}

/** The output of a command, streamed. */
export type CommandRun = EventStream<CommandEvent>;
