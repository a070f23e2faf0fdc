import type { AgentEvent } from "../../domain/agent-event.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { toolError } from "../../domain/tool.ts";
import { openCallNamed, toolCallIdOf } from "../turn/call-ids.ts";
import type { Heard } from "../turn/heard.ts";

type Of<Type extends ProviderEvent["type"]> = Extract<ProviderEvent, { readonly type: Type }>;

/** What an agent's stream says of its calls of tools, for the log. */
export function toolAnnounced(
  { call }: Heard,
  { block, name }: Of<"tool.start">,
  messageId: string,
): AgentEvent {
  return { type: "tool.announced", toolCallId: toolCallIdOf(call, block), messageId, block, name };
}

export function toolInput({ call }: Heard, { block, text }: Of<"tool.delta">): AgentEvent {
  return { type: "tool.input.delta", toolCallId: toolCallIdOf(call, block), text };
}

export function toolCalled(
  heard: Heard,
  { block, call }: Of<"tool.end">,
  messageId: string,
): AgentEvent[] {
  const toolCallId = toolCallIdOf(heard.call, block);
  const problem = heard.problem === undefined ? {} : { problem: heard.problem };
  return [
    ...superseded(heard, call.id),
    { type: "tool.called", toolCallId, messageId, block, call, ...problem },
  ];
}

/** A provider that repeats an id means the last one: the one before is over. */
function superseded({ call, tools }: Heard, providerId: string): AgentEvent[] {
  const toolCallId = openCallNamed(call, tools, providerId);
  if (toolCallId === undefined) return [];
  const result = toolError(providerId, "The agent made this call again under the same id");
  return [{ type: "tool.finished", toolCallId, ending: "cancelled", result }];
}

/** It ran on the other side. */
export function toolAnswered({ call, tools }: Heard, { result }: Of<"tool.result">): AgentEvent {
  const toolCallId = openCallNamed(call, tools, result.callId) ?? "";
  return { type: "tool.finished", toolCallId, ending: "server", result };
}
