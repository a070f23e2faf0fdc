import type { Diagnostic, DiagnosticCode } from "../../domain/diagnostic.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider-event.ts";
import { messageIdOf, openCallNamed, toolCallIdOf } from "./call-ids.ts";
import type { Heard } from "./heard.ts";
import type { Call, SaidBlock, SaidMessage } from "./turn-state.ts";

/**
 * Why an event cannot stand where it says it does: folds never say such things, and the log stays one that can be read
 * whatever a provider says. `withdrawn` when it is about text that was replaced, which is no fault.
 */
export function misplaced(
  { call, tools }: Heard,
  event: Exclude<ProviderEvent, TurnEnd>,
): Diagnostic | "withdrawn" | undefined {
  switch (event.type) {
    case "message.start":
      if (messageAt(call, event.message) === undefined) return undefined;
      return complaint("malformed_event", "A message began that had begun before");
    case "message.end":
      if (messageAt(call, event.message)?.isFinished === false) return undefined;
      return complaint("malformed_event", "A message ended that was not open");
    case "text.delta":
    case "text.end":
    case "reasoning.delta":
    case "reasoning.end":
    case "tool.start":
    case "tool.end":
      return misplacedBlock(call, event);
    case "tool.delta": {
      const toolCallId = toolCallIdOf(call, event.block);
      const run = tools.runs.find((one) => one.toolCallId === toolCallId);
      if (run?.status === "announced") return undefined;
      return complaint("tool_input_unmatched", "Arguments came for a call that was not open");
    }
    case "tool.result":
      if (openCallNamed(call, tools, event.result.callId) !== undefined) return undefined;
      return complaint("tool_result_unmatched", "A result came for a call that was not open");
    default:
      return undefined;
  }
}

type BlockEvent = Extract<ProviderEvent, { readonly block: number }>;

function misplacedBlock(call: Call, event: BlockEvent): ReturnType<typeof misplaced> {
  const known = blockAt(call, event.block);
  if (known === undefined) return undefined;
  const { message, block } = known;
  const isSameKind = block.type === KINDS[event.type];
  if (isSameKind && block.type === "text" && message.isReplaced && block.isFinished) {
    return "withdrawn";
  }
  if (!isSameKind || message.messageId !== messageIdOf(call, event.message)) {
    return complaint("block_kind_mismatch", `A ${event.type} came for another block's number`);
  }
  if (block.isFinished) {
    return complaint("event_after_end", `A ${event.type} came for a block that had ended`);
  }
  if (event.type !== "tool.start") return undefined;
  return complaint("malformed_event", "A call began that had begun before");
}

const KINDS: { readonly [Type in BlockEvent["type"]]: SaidBlock["type"] } = {
  "text.delta": "text",
  "text.end": "text",
  "reasoning.delta": "thought",
  "reasoning.end": "thought",
  "tool.start": "call",
  "tool.delta": "call",
  "tool.end": "call",
  "tool.result": "result",
};

function messageAt(call: Call, message: number): SaidMessage | undefined {
  const messageId = messageIdOf(call, message);
  return call.messages.find((one) => one.messageId === messageId);
}

/** Looks from the end: what is added to is mostly what came last. */
function blockAt(
  { messages }: Call,
  number: number,
): { readonly message: SaidMessage; readonly block: SaidBlock } | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    const block = message?.blocks.findLast((one) => one.block === number);
    if (message !== undefined && block !== undefined) return { message, block };
  }
  return undefined;
}

function complaint(code: DiagnosticCode, message: string): Diagnostic {
  return { code, message };
}
