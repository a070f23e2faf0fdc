import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { toToolCallOpened, toToolCallReceived, toSuperseded } from "../tools/tool-call-events.ts";
import { findOpenToolCallId, createToolCallId } from "./stream-ids.ts";
import type { StreamContext } from "./stream-context.ts";

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

export function translateBlock(
  context: StreamContext,
  event: BlockEvent,
  messageId: string,
): SessionEvent[] {
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
      return [
        toToolCallOpened(
          { toolCallId: createToolCallId(context.invocation, block), messageId },
          event,
        ),
      ];
    case "tool.end": {
      const { invocation, tools } = context;
      const location = { toolCallId: createToolCallId(invocation, block), messageId };
      const supersededId = findOpenToolCallId(invocation, tools, event.toolCall.id);
      return [
        ...(supersededId === undefined ? [] : [toSuperseded(supersededId, event)]),
        toToolCallReceived(location, event, context),
      ];
    }
    default:
      return event satisfies never;
  }
}
