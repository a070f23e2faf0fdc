import type { SessionEvent } from "../../domain/events/session-event.ts";
import type {
  ToolCallOpened,
  ToolCallReceived,
  ToolFinished,
} from "../../domain/events/tool-events.ts";
import type { TurnBlock, TurnMessage } from "../../domain/provider/turn.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";
import type { Invocation, ReceivedBlock, ReceivedMessage } from "./turn-state.ts";

/** Applies an event to the content received from an invocation's stream. */
export function evolveInvocation(invocation: Invocation, event: SessionEvent): Invocation {
  switch (event.type) {
    case "message.started": {
      const { messageId, role } = event;
      const message = { messageId, role, reason: null, isFinished: false, isReplaced: false };
      return { ...invocation, messages: [...invocation.messages, { ...message, blocks: [] }] };
    }
    case "message.finished":
      return changeMessage(invocation, event.messageId, (message) => ({
        ...message,
        reason: event.reason,
        isFinished: true,
      }));
    case "message.replaced":
      return changeMessage(invocation, event.messageId, (message) =>
        replaceText(message, event.text),
      );
    case "text.delta":
    case "thought.delta": {
      const type = event.type === "text.delta" ? "text" : "thought";
      return changeMessage(invocation, event.messageId, (message) =>
        changeBlock(message, event.block, (previous) => ({
          type,
          block: event.block,
          isFinished: false,
          text: (previous?.type === type ? previous.text : "") + event.text,
        })),
      );
    }
    case "text.finished": {
      const { block, text } = event;
      return changeMessage(invocation, event.messageId, (message) =>
        changeBlock(message, block, () => ({ type: "text", block, isFinished: true, text })),
      );
    }
    case "thought.finished": {
      const { block, text, signature, redacted } = event;
      return changeMessage(invocation, event.messageId, (message) =>
        changeBlock(message, block, () => ({
          type: "thought",
          block,
          isFinished: true,
          text,
          ...(signature !== undefined && { signature }),
          ...(redacted !== undefined && { redacted }),
        })),
      );
    }
    case "tool_call.opened":
    case "tool_call.received":
      return putToolCall(invocation, event);
    case "tool.finished":
      return addToolResult(invocation, event);
    default:
      return invocation;
  }
}

function putToolCall(invocation: Invocation, event: ToolCallOpened | ToolCallReceived): Invocation {
  const { block, toolCallId } = event;
  const receivedCall = event.type === "tool_call.received" ? event.toolCall : null;
  return changeMessage(invocation, event.messageId, (message) =>
    changeBlock(message, findToolBlock(message, toolCallId) ?? block, (previous) => ({
      type: "tool-call",
      block: previous?.block ?? block,
      isFinished: receivedCall !== null,
      toolCallId,
      toolCall: receivedCall,
    })),
  );
}

function addToolResult(invocation: Invocation, event: ToolFinished): Invocation {
  const { toolCallId, ending, result } = event;
  if (ending !== "server")
    return { ...invocation, closedToolCallIds: [...invocation.closedToolCallIds, toolCallId] };
  // The tool ran at the provider, so its result is part of the stream.
  const last = invocation.messages.at(-1);
  if (last === undefined) return invocation;
  const block = createBlockNumber(last);
  return changeMessage(invocation, last.messageId, (message) =>
    changeBlock(message, block, () => ({ type: "tool-result", block, isFinished: true, result })),
  );
}

function changeMessage(
  invocation: Invocation,
  messageId: string,
  change: (message: ReceivedMessage) => ReceivedMessage,
): Invocation {
  const at = invocation.messages.findLastIndex((message) => message.messageId === messageId);
  const message = invocation.messages[at];
  return message === undefined
    ? invocation
    : { ...invocation, messages: invocation.messages.with(at, change(message)) };
}

function changeBlock(
  message: ReceivedMessage,
  block: number,
  change: (previous: ReceivedBlock | undefined) => ReceivedBlock,
): ReceivedMessage {
  // Searches from the end: most events concern the last block, and a message can have thousands.
  const at = message.blocks.findLastIndex((candidate) => candidate.block === block);
  if (at < 0) return { ...message, blocks: [...message.blocks, change(undefined)] };
  return { ...message, blocks: message.blocks.with(at, change(message.blocks[at])) };
}

function findToolBlock(message: ReceivedMessage, toolCallId: string): number | undefined {
  return message.blocks.find(
    (candidate) => candidate.type === "tool-call" && candidate.toolCallId === toolCallId,
  )?.block;
}

/** Returns a negative number for a block without a number from the stream. */
function createBlockNumber({ blocks }: ReceivedMessage): number {
  return -1 - blocks.length;
}

/**
 * Puts the new text at the position of the first text block. The other text blocks stay, empty and closed: their end
 * events may still arrive.
 */
function replaceText(message: ReceivedMessage, text: string): ReceivedMessage {
  const first =
    message.blocks.find(({ type }) => type === "text")?.block ?? createBlockNumber(message);
  const withdrawn = message.blocks.map((block) =>
    block.type === "text" ? { ...block, isFinished: true, text: "" } : block,
  );
  const replacement: ReceivedBlock = { type: "text", block: first, isFinished: true, text };
  return changeBlock({ ...message, isReplaced: true, blocks: withdrawn }, first, () => replacement);
}

/** Converts the received messages to the provider contract, for the invocation which answers their tool calls. */
export function listTurnMessages(invocation: Invocation): TurnMessage[] {
  return invocation.messages.map(({ role, reason, blocks }) => ({
    role,
    reason,
    blocks: blocks
      .filter(
        (block) =>
          block.type !== "tool-call" || !invocation.closedToolCallIds.includes(block.toolCallId),
      )
      .flatMap(toTurnBlocks),
  }));
}

function toTurnBlocks(block: ReceivedBlock): TurnBlock[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ type: "text", text: block.text }];
    case "thought": {
      const { text, signature, redacted } = block;
      return [
        {
          type: "reasoning",
          text,
          ...(signature !== undefined && { signature }),
          ...(redacted !== undefined && { redacted }),
        },
      ];
    }
    case "tool-call":
      return block.toolCall === null ? [] : [{ type: "tool-call", toolCall: block.toolCall }];
    case "tool-result":
      return [{ type: "tool-result", result: block.result }];
    default:
      return block satisfies never;
  }
}

/** Lists client tool calls without a result. Ids may be reused: a result belongs to the last call before it. */
export function listOpenToolCalls(
  invocation: Invocation,
): { toolCallId: string; toolCall: ToolCall }[] {
  const open = new Map<string, { toolCallId: string; toolCall: ToolCall }>();
  for (const block of invocation.messages.flatMap(({ blocks }) => blocks)) {
    if (block.type === "tool-result") open.delete(block.result.toolCallId);
    if (block.type !== "tool-call" || block.toolCall?.runBy !== "client") continue;
    const { toolCallId, toolCall } = block;
    if (!invocation.closedToolCallIds.includes(toolCallId))
      open.set(toolCall.id, { toolCallId, toolCall });
  }
  return [...open.values()];
}
