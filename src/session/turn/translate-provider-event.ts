import { omitUndefined } from "../../data/omit-undefined.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type {
  ActivityEvent,
  ProviderEvent,
  TurnEnd,
} from "../../domain/provider/provider-event.ts";
import {
  toServerResult,
  toInputDelta,
  toToolCallOpened,
  toToolCallReceived,
  toSuperseded,
} from "../tools/tool-call-events.ts";
import { checkEventOrder, findOpenToolCallId, type StreamContext } from "./check-event-order.ts";
import { createMessageId, createToolCallId, type Invocation } from "./turn-state.ts";

/** Translates a provider event into events of the log. */
export function translateProviderEvent(
  context: StreamContext,
  event: Exclude<ProviderEvent, TurnEnd>,
): SessionEvent[] {
  const orderProblem = checkEventOrder(context, event);
  if (orderProblem === "withdrawn") return [];
  if (orderProblem !== undefined) return [{ type: "diagnostic.raised", diagnostic: orderProblem }];
  return translateInOrder(context, event);
}

/** Translates an event that fits its place in the stream. */
function translateInOrder(
  context: StreamContext,
  event: Exclude<ProviderEvent, TurnEnd>,
): SessionEvent[] {
  const { invocation, tools } = context;
  switch (event.type) {
    case "message.start": {
      const messageId = createMessageId(invocation, event.message);
      return [{ type: "message.started", messageId, role: event.role }];
    }
    case "message.end": {
      const messageId = createMessageId(invocation, event.message);
      return [{ type: "message.finished", messageId, reason: event.reason }];
    }
    case "message.replaced": {
      const messageId = createMessageId(invocation, event.message);
      return [
        ...createMissingStart(invocation, messageId),
        { type: "message.replaced", messageId, text: event.text },
      ];
    }
    case "text.delta":
    case "text.end":
    case "reasoning.delta":
    case "reasoning.end":
    case "tool.start":
    case "tool.end": {
      const messageId = createMessageId(invocation, event.message);
      return [
        ...createMissingStart(invocation, messageId),
        ...translateBlock(context, event, messageId),
      ];
    }
    case "tool.delta":
      return [toInputDelta(createToolCallId(invocation, event.block), event)];
    case "tool.result":
      return [
        toServerResult(findOpenToolCallId(invocation, tools, event.result.toolCallId) ?? "", event),
      ];
    case "usage": {
      const { usage, latencyMs } = event;
      return [{ type: "usage.reported", usage, ...omitUndefined({ latencyMs }) }];
    }
    case "hook": {
      const { name, stage, decision, reason } = event;
      return [{ type: "hook.fired", name, stage, ...omitUndefined({ decision, reason }) }];
    }
    case "activity":
      return [translateActivity(context, event)];
    case "diagnostic":
      return [{ type: "diagnostic.raised", diagnostic: event.diagnostic }];
    case "unknown":
      return [{ type: "provider.unknown", what: event.what, name: event.name, raw: event.raw }];
    default:
      return event satisfies never;
  }
}

/** Creates the missing start of a message, with an unknown role, so its content can be displayed. */
function createMissingStart({ messages }: Invocation, messageId: string): SessionEvent[] {
  const hasStarted = messages.some((message) => message.messageId === messageId);
  return hasStarted ? [] : [{ type: "message.started", messageId, role: "other" }];
}

function translateActivity(
  { invocation, tools }: StreamContext,
  { kind, toolCallId: callId, label }: ActivityEvent,
): SessionEvent {
  const toolCallId =
    callId === undefined ? undefined : findOpenToolCallId(invocation, tools, callId);
  return { type: "provider.activity", kind, ...omitUndefined({ toolCallId, label }) };
}

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

function translateBlock(
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
          ...omitUndefined({ signature, redacted }),
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
