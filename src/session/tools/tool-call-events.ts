import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ToolCallReceived } from "../../domain/events/tool-events.ts";
import type { PromptOptions } from "../../domain/prompt.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createToolError, type ToolCall } from "../../domain/tools/tool-call.ts";
import { isToolAllowed, isPromptTool, formatToolNotAllowed } from "../turn-options.ts";

type ProviderEventOf<Type extends ProviderEvent["type"]> = Extract<
  ProviderEvent,
  { readonly type: Type }
>;

/** Position of a tool call in the agent's messages. */
export interface ToolCallLocation {
  /** The session's id of the call. */
  readonly toolCallId: string;
  readonly messageId: string;
}

/** Data of a tool call that is not part of the provider's event. */
interface ToolCallContext {
  /** Validation error of the arguments. Undefined if they are valid. */
  readonly problem: string | undefined;
  /** Options of the turn. */
  readonly options: PromptOptions | null;
}

/** Translates the start of a tool call for the log. The functions below translate the other tool events. */
export function toToolCallOpened(
  location: ToolCallLocation,
  { block, name }: ProviderEventOf<"tool.start">,
): SessionEvent {
  return { type: "tool_call.opened", ...location, block, name };
}

export function toInputDelta(
  toolCallId: string,
  { text }: ProviderEventOf<"tool.delta">,
): SessionEvent {
  return { type: "tool_call.input.delta", toolCallId, text };
}

export function toToolCallReceived(
  location: ToolCallLocation,
  { block, toolCall }: ProviderEventOf<"tool.end">,
  context: ToolCallContext,
): SessionEvent {
  return {
    type: "tool_call.received",
    ...location,
    block,
    toolCall,
    ...resolveExecutor(context, toolCall),
  };
}

/**
 * Determines who runs a call. Calls not allowed in this turn never run, and unreadable arguments are not handed to the
 * prompter.
 */
function resolveExecutor(
  { problem, options }: ToolCallContext,
  { name, runBy, input }: ToolCall,
): Pick<ToolCallReceived, "problem" | "executor"> {
  if (runBy === "client" && options !== null) {
    if (!isToolAllowed(options, name)) return { problem: formatToolNotAllowed(name, options) };
    if (isPromptTool(options, name)) return input === null ? {} : { executor: "prompter" };
  }
  return problem === undefined ? {} : { problem };
}

/** Cancels an earlier call: if a provider repeats an id, the last call counts. */
export function toSuperseded(
  toolCallId: string,
  { toolCall: call }: ProviderEventOf<"tool.end">,
): SessionEvent {
  const result = createToolError(call.id, "The agent made this call again under the same id");
  return { type: "tool.finished", toolCallId, ending: "cancelled", result };
}

/** The result of a tool which ran at the provider. */
export function toServerResult(
  toolCallId: string,
  { result }: ProviderEventOf<"tool.result">,
): SessionEvent {
  return { type: "tool.finished", toolCallId, ending: "server", result };
}
