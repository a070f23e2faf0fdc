import type { AgentEvent, PromptOptions, ToolCalled } from "../../domain/agent-event.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { toolError, type ToolCall } from "../../domain/tool.ts";
import { isAllowedBy, isPromptTool, notAllowed } from "../turn-options.ts";

type Of<Type extends ProviderEvent["type"]> = Extract<ProviderEvent, { readonly type: Type }>;

/** Where a call of a tool stands in what an agent said. */
export interface SaidPlace {
  /** The session's id of it. */
  readonly toolCallId: string;
  readonly messageId: string;
}

/** What is known of a call beside the call itself. */
interface Said {
  /** What checking its arguments found. */
  readonly problem: string | undefined;
  /** Of the turn. */
  readonly options: PromptOptions | null;
}

/** What an agent's stream says of its calls of tools, for the log. */
export function toolAnnounced(place: SaidPlace, { block, name }: Of<"tool.start">): AgentEvent {
  return { type: "tool.announced", ...place, block, name };
}

export function toolInput(toolCallId: string, { text }: Of<"tool.delta">): AgentEvent {
  return { type: "tool.input.delta", toolCallId, text };
}

export function toolCalled(
  place: SaidPlace,
  { block, call }: Of<"tool.end">,
  said: Said,
): AgentEvent {
  return { type: "tool.called", ...place, block, call, ...whoRuns(said, call) };
}

/** What a turn does not allow nobody runs, and what cannot be read nobody is given. */
function whoRuns(
  { problem, options }: Said,
  { name, runBy, input }: ToolCall,
): Pick<ToolCalled, "problem" | "executor"> {
  if (runBy === "client" && options !== null) {
    if (!isAllowedBy(options, name)) return { problem: notAllowed(name, options) };
    if (isPromptTool(options, name)) return input === null ? {} : { executor: "prompter" };
  }
  return problem === undefined ? {} : { problem };
}

/** A provider that repeats an id means the last one: the one before is over. */
export function toolSuperseded(toolCallId: string, { call }: Of<"tool.end">): AgentEvent {
  const result = toolError(call.id, "The agent made this call again under the same id");
  return { type: "tool.finished", toolCallId, ending: "cancelled", result };
}

/** It ran on the other side. */
export function toolAnswered(toolCallId: string, { result }: Of<"tool.result">): AgentEvent {
  return { type: "tool.finished", toolCallId, ending: "server", result };
}
