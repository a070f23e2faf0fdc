import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ToolCallReceived } from "../../domain/events/tool-events.ts";
import type { PromptOptions } from "../../domain/prompt.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { toolError, type ToolCall } from "../../domain/tools/tool-call.ts";
import { isToolAllowed, isPromptTool, formatToolNotAllowed } from "../turn-options.ts";

type ProviderEventOf<Type extends ProviderEvent["type"]> = Extract<
  ProviderEvent,
  { readonly type: Type }
>;

/** Where a call of a tool stands in what an agent said. */
export interface ToolCallLocation {
  /** The session's id of it. */
  readonly toolCallId: string;
  readonly messageId: string;
}

/** What is known of a call beside the call itself. */
interface ToolCallContext {
  /** What checking its arguments found. */
  readonly problem: string | undefined;
  /** Of the turn. */
  readonly options: PromptOptions | null;
}

/** What an agent's stream says of its calls of tools, for the log. */
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

/** What a turn does not allow nobody runs, and what cannot be read nobody is given. */
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

/** A provider that repeats an id means the last one: the one before is over. */
export function toSuperseded(
  toolCallId: string,
  { toolCall: call }: ProviderEventOf<"tool.end">,
): SessionEvent {
  const result = toolError(call.id, "The agent made this call again under the same id");
  return { type: "tool.finished", toolCallId, ending: "cancelled", result };
}

/** It ran on the other side. */
export function toServerResult(
  toolCallId: string,
  { result }: ProviderEventOf<"tool.result">,
): SessionEvent {
  return { type: "tool.finished", toolCallId, ending: "server", result };
}
