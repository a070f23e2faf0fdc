import type { AgentEvent } from "../../domain/agent-event.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider-event.ts";
import { toolAnswered, toolInput } from "../tools/tool-said.ts";
import { messageIdOf, openCallNamed, toolCallIdOf } from "./call-ids.ts";
import type { Heard } from "./heard.ts";
import { misplaced } from "./misplaced.ts";
import { blockEvents } from "./translate-block.ts";
import type { Call } from "./turn-state.ts";

/** What an event of a stream means for the log. */
export function translate(heard: Heard, event: Exclude<ProviderEvent, TurnEnd>): AgentEvent[] {
  const { call, tools } = heard;
  const wrong = misplaced(heard, event);
  if (wrong === "withdrawn") return [];
  if (wrong !== undefined) return [{ type: "diagnostic.raised", diagnostic: wrong }];
  switch (event.type) {
    case "message.start": {
      const messageId = messageIdOf(call, event.message);
      return [{ type: "message.started", messageId, role: event.role }];
    }
    case "message.end": {
      const messageId = messageIdOf(call, event.message);
      return [{ type: "message.finished", messageId, reason: event.reason }];
    }
    case "message.replaced": {
      const messageId = messageIdOf(call, event.message);
      return [
        ...unsaidStart(call, messageId),
        { type: "message.replaced", messageId, text: event.text },
      ];
    }
    case "text.delta":
    case "text.end":
    case "reasoning.delta":
    case "reasoning.end":
    case "tool.start":
    case "tool.end": {
      const messageId = messageIdOf(call, event.message);
      return [...unsaidStart(call, messageId), ...blockEvents(heard, event, messageId)];
    }
    case "tool.delta":
      return [toolInput(toolCallIdOf(call, event.block), event)];
    case "tool.result":
      return [toolAnswered(openCallNamed(call, tools, event.result.callId) ?? "", event)];
    case "usage": {
      const { usage, latencyMs } = event;
      return [{ type: "usage.reported", usage, ...(latencyMs !== undefined && { latencyMs }) }];
    }
    case "hook": {
      const { name, stage, decision, reason } = event;
      return [
        {
          type: "hook.fired",
          name,
          stage,
          ...(decision !== undefined && { decision }),
          ...(reason !== undefined && { reason }),
        },
      ];
    }
    case "activity": {
      const { kind, callId, label } = event;
      const toolCallId = callId === undefined ? undefined : openCallNamed(call, tools, callId);
      return [
        {
          type: "activity.seen",
          kind,
          ...(toolCallId !== undefined && { toolCallId }),
          ...(label !== undefined && { label }),
        },
      ];
    }
    case "diagnostic":
      return [{ type: "diagnostic.raised", diagnostic: event.diagnostic }];
    case "unknown":
      return [{ type: "unknown.reported", what: event.what, name: event.name, raw: event.raw }];
    default:
      return event satisfies never;
  }
}

/** A stream that never said who speaks still has to be shown. */
function unsaidStart({ messages }: Call, messageId: string): AgentEvent[] {
  const isKnown = messages.some((message) => message.messageId === messageId);
  return isKnown ? [] : [{ type: "message.started", messageId, role: "other" }];
}
