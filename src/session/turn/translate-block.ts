import type { AgentEvent } from "../../domain/agent-event.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { toolError } from "../../domain/tool.ts";
import { openCallNamed, toolCallIdOf } from "./call-ids.ts";
import type { Heard } from "./heard.ts";

type BlockEvent = Extract<
  ProviderEvent,
  {
    type:
      | "text.delta"
      | "text.end"
      | "reasoning.delta"
      | "reasoning.end"
      | "tool.start"
      | "tool.end";
  }
>;

export function blockEvents(heard: Heard, event: BlockEvent, messageId: string): AgentEvent[] {
  const { block } = event;
  switch (event.type) {
    case "text.delta":
      return [{ type: "text.delta", messageId, block, text: event.text }];
    case "text.end":
      return [{ type: "text.finished", messageId, block, text: event.text }];
    case "reasoning.delta":
      return [{ type: "thought.delta", messageId, block, text: event.text }];
    case "reasoning.end": {
      const { text, signature, redacted } = event;
      return [
        {
          type: "thought.finished",
          messageId,
          block,
          text,
          ...(signature !== undefined && { signature }),
          ...(redacted !== undefined && { redacted }),
        },
      ];
    }
    case "tool.start": {
      const toolCallId = toolCallIdOf(heard.call, block);
      return [{ type: "tool.announced", toolCallId, messageId, block, name: event.name }];
    }
    case "tool.end": {
      const toolCallId = toolCallIdOf(heard.call, block);
      const { call } = event;
      const problem = heard.problem === undefined ? {} : { problem: heard.problem };
      return [
        ...superseded(heard, call.id),
        { type: "tool.called", toolCallId, messageId, block, call, ...problem },
      ];
    }
    default:
      return event satisfies never;
  }
}

/** A provider that repeats an id means the last one: the one before is over. */
function superseded({ call, tools }: Heard, providerId: string): AgentEvent[] {
  const toolCallId = openCallNamed(call, tools, providerId);
  if (toolCallId === undefined) return [];
  const result = toolError(providerId, "The agent made this call again under the same id");
  return [{ type: "tool.finished", toolCallId, ending: "cancelled", result }];
}
