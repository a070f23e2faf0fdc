import type { ProviderCapabilities } from "../domain/agent-spec.ts";
import type { CommandEvent } from "../domain/provider/command-event.ts";
import type { ImageBlock } from "../domain/model/image-block.ts";
import type { ModelMessage } from "../domain/model/model-request.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import type { ToolCall, ToolResult } from "../domain/tools/tool-call.ts";
import type { TraceContext } from "../domain/trace-context.ts";
import type { Turn } from "../domain/provider/turn.ts";

/**
 * Where an agent's loop runs. Every provider passes the suite in `test/contracts/provider-contract.ts`.
 *
 * A capability that a provider lacks is a method that it does not have.
 */
export interface Provider {
  readonly name: string;
  /** Where something can enter a turn. Anything else has to wait for the next one. */
  readonly injectionPoints: readonly InjectionPoint[];
  /** A call that was lost may be made again: nothing outside the provider's own answer comes of it. */
  readonly effectFree: boolean;
  /** `false` when its agent remembers nothing from one call to the next: whoever keeps the conversation brings it with each. */
  readonly keepsHistory?: boolean;
  /** Which of the options of a call, and whether pictures, reach its agent. The others are not to be given. */
  readonly capabilities?: ProviderCapabilities;
  /** Rejects where it is known without a call that none would be let in: credentials that are not there. */
  checkCredentials?(): Promise<void>;
  /** Takes up a conversation, or begins one. Nothing is sent; what cannot work is refused here. */
  open(options?: OpenOptions): ProviderSession;
}

/**
 * - `turn-start`: with the prompt.
 * - `tool-results`: as text beside the results of a call.
 * - `turn-end`: behind the end of a turn, as the next prompt.
 */
export type InjectionPoint = "turn-start" | "tool-results" | "turn-end";

export interface OpenOptions {
  /** Of a conversation that exists, or is to begin under this id; without one, a new id is made. */
  readonly sessionId?: string;
  /**
   * What was said before, for a conversation that began elsewhere. It goes along with the first call, before what that call
   * says, and with no other, unless the agent answered nothing to the first: then with the next. A `sessionId` beside it has
   * to be one under which nothing was said yet: the agent would have both. Of a provider that keeps no history it is all that
   * its agent knows, however often a conversation is opened.
   */
  readonly history?: readonly ModelMessage[];
  /**
   * How many of the first messages of `history` are the same objects, unchanged, whenever this conversation is opened
   * again. A provider may cache what it makes of them. Default: 0.
   */
  readonly stableCount?: number;
}

export interface ProviderSession {
  /** Known before the first call, so that it can be written down before anything happens under it. */
  readonly id: string;
  /**
   * Makes one call, once. Rejects while there is no stream; from then on a failure is the `end` event's. Only the
   * caller's own abort is thrown out of a stream, as an `AbortError` with the signal's reason.
   */
  invoke(input: InvocationInput, options: InvocationOptions): Promise<ProviderInvocation>;
  /** Ends the conversation's machine on the other side. What the agent remembers elsewhere stays. */
  stop?(options: StopOptions): Promise<void>;
  /** Runs a command on the agent's machine, beside the agent. */
  runCommand?(command: string, options: CommandOptions): Promise<CommandRun>;
}

/** Only what is new: the agent holds its history, or gets it by `OpenOptions.history`. */
export type InvocationInput =
  | {
      readonly type: "prompt";
      readonly texts: readonly string[];
      /** Shown before the texts, to an agent that takes them. */
      readonly images?: readonly ImageBlock[];
    }
  /** Answers the open calls of a turn; `texts` are said after the results. */
  | {
      readonly type: "results";
      readonly turn: Pick<Turn, "messages" | "toolCalls">;
      readonly results: readonly ToolResult[];
      readonly texts?: readonly string[];
      readonly images?: readonly ImageBlock[];
    };

export interface InvocationOptions {
  readonly signal: AbortSignal;
  /** Tools that run on our side, offered beside those that the agent has. */
  readonly tools?: readonly OfferedTool[];
  /** Told to the agent beside its own instructions, or in their place where its provider has but one place for them. */
  readonly instructions?: string;
  /** How much the agent may say. */
  readonly maxOutputTokens?: number;
  /** Only these may be called, those of the other side among them; none where it is empty. */
  readonly allowedTools?: readonly string[];
  /** For whoever follows the call beyond this process; where there is no way to tell, nobody is told. */
  readonly trace?: TraceContext;
  /** For a provider whose loop runs here; the others have their own. */
  readonly turn?: TurnProgress;
  /** Sees the bytes of the answer before they are read. */
  readonly tap?: (chunk: Uint8Array) => void;
}

/** Where a turn stands when a call is made. */
export interface TurnProgress {
  /** How many calls of the provider the turn may still make, this one among them. */
  readonly remainingInvocations: number;
  /** Calls of tools that were answered in this turn, in the order they were made. */
  readonly answeredToolCalls: readonly AnsweredToolCall[];
  /** A tool that has to do its work before the turn may end, and has not yet. */
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

/** Events as they come, read once. Leaving the loop early closes the connection at once. */
export interface EventStream<Event> extends AsyncIterable<Event> {
  /** The provider's id of the call, for its support. */
  readonly requestId: string | undefined;
  /** For a call whose events nobody reads. */
  close(): void;
}

export type ProviderInvocation = EventStream<ProviderEvent>;

export interface StopOptions {
  readonly signal: AbortSignal;
}

export interface CommandOptions {
  readonly signal: AbortSignal;
  /** How long the command may run on the other side. */
  readonly timeoutSeconds?: number;
}

/** What one command says, as it says it. */
export type CommandRun = EventStream<CommandEvent>;
