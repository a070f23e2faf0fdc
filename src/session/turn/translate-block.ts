import type { AgentEvent } from "../../domain/agent-event.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import { toolAnnounced, toolCalled, toolSuperseded } from "../tools/tool-said.ts";
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
    case "tool.start":
      return [toolAnnounced({ toolCallId: toolCallIdOf(heard.call, block), messageId }, event)];
    case "tool.end": {
      const { call, tools } = heard;
      const place = { toolCallId: toolCallIdOf(call, block), messageId };
      const before = openCallNamed(call, tools, event.call.id);
      return [
        ...(before === undefined ? [] : [toolSuperseded(before, event)]),
        toolCalled(place, event, heard),
      ];
    }
    default:
      return event satisfies never;
  }
}
