import type { AgentEvent } from "../../domain/agent-event.ts";
import type { TurnBlock, TurnMessage } from "../../domain/turn.ts";
import type { ToolCall } from "../../domain/tool.ts";
import type { Call, SaidBlock, SaidMessage } from "./turn-state.ts";

/** What a call's stream has said, with one more event. */
export function evolveCall(call: Call, event: AgentEvent): Call {
  switch (event.type) {
    case "message.started": {
      const { messageId, role } = event;
      const message = { messageId, role, reason: null, isFinished: false, isReplaced: false };
      return { ...call, messages: [...call.messages, { ...message, blocks: [] }] };
    }
    case "message.finished":
      return inMessage(call, event.messageId, (message) => ({
        ...message,
        reason: event.reason,
        isFinished: true,
      }));
    case "message.replaced":
      return inMessage(call, event.messageId, (message) => replaced(message, event.text));
    case "text.delta":
    case "thought.delta": {
      const type = event.type === "text.delta" ? "text" : "thought";
      return inMessage(call, event.messageId, (message) =>
        withBlock(message, event.block, (before) => ({
          type,
          block: event.block,
          isFinished: false,
          text: (before?.type === type ? before.text : "") + event.text,
        })),
      );
    }
    case "text.finished": {
      const { block, text } = event;
      return inMessage(call, event.messageId, (message) =>
        withBlock(message, block, () => ({ type: "text", block, isFinished: true, text })),
      );
    }
    case "thought.finished": {
      const { block, text, signature, redacted } = event;
      return inMessage(call, event.messageId, (message) =>
        withBlock(message, block, () => ({
          type: "thought",
          block,
          isFinished: true,
          text,
          ...(signature !== undefined && { signature }),
          ...(redacted !== undefined && { redacted }),
        })),
      );
    }
    case "tool.announced":
    case "tool.called": {
      const { block, toolCallId } = event;
      const named = event.type === "tool.called" ? event.call : null;
      return inMessage(call, event.messageId, (message) =>
        withBlock(message, blockOfTool(message, toolCallId) ?? block, (before) => ({
          type: "call",
          block: before?.block ?? block,
          isFinished: named !== null,
          toolCallId,
          call: named,
        })),
      );
    }
    case "tool.finished": {
      if (event.ending !== "server") return { ...call, closed: [...call.closed, event.toolCallId] };
      // It ran on the other side: its result is part of what the stream says.
      const { result } = event;
      const last = call.messages.at(-1);
      if (last === undefined) return call;
      const block = unnumbered(last);
      return inMessage(call, last.messageId, (message) =>
        withBlock(message, block, () => ({ type: "result", block, isFinished: true, result })),
      );
    }
    default:
      return call;
  }
}

function inMessage(
  call: Call,
  messageId: string,
  change: (message: SaidMessage) => SaidMessage,
): Call {
  const at = call.messages.findLastIndex((message) => message.messageId === messageId);
  const message = call.messages[at];
  return message === undefined
    ? call
    : { ...call, messages: call.messages.with(at, change(message)) };
}

function withBlock(
  message: SaidMessage,
  block: number,
  change: (before: SaidBlock | undefined) => SaidBlock,
): SaidMessage {
  // From the end: what comes is nearly always about the last one, and a message can have thousands.
  const at = message.blocks.findLastIndex((one) => one.block === block);
  if (at < 0) return { ...message, blocks: [...message.blocks, change(undefined)] };
  return { ...message, blocks: message.blocks.with(at, change(message.blocks[at])) };
}

function blockOfTool(message: SaidMessage, toolCallId: string): number | undefined {
  return message.blocks.find((one) => one.type === "call" && one.toolCallId === toolCallId)?.block;
}

/** For a block that the stream gave no number. */
function unnumbered({ blocks }: SaidMessage): number {
  return -1 - blocks.length;
}

/** The new text stands where the first text stood. The others stay, closed: their own ends may still come. */
function replaced(message: SaidMessage, text: string): SaidMessage {
  const first = message.blocks.find(({ type }) => type === "text")?.block ?? unnumbered(message);
  const withdrawn = message.blocks.map((one) =>
    one.type === "text" ? { ...one, isFinished: true, text: "" } : one,
  );
  const now: SaidBlock = { type: "text", block: first, isFinished: true, text };
  return withBlock({ ...message, isReplaced: true, blocks: withdrawn }, first, () => now);
}

/** As the provider's contract has them, for the answer to their calls. */
export function messagesOf(call: Call): TurnMessage[] {
  return call.messages.map(({ role, reason, blocks }) => ({
    role,
    reason,
    blocks: blocks
      .filter((block) => block.type !== "call" || !call.closed.includes(block.toolCallId))
      .flatMap(turnBlocks),
  }));
}

function turnBlocks(block: SaidBlock): TurnBlock[] {
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
    case "call":
      return block.call === null ? [] : [{ type: "call", call: block.call }];
    case "result":
      return [{ type: "result", result: block.result }];
    default:
      return block satisfies never;
  }
}

/** Calls of ours that have no result yet. An id may come back for another call: a result answers the one before it. */
export function openCallsOf(call: Call): { toolCallId: string; call: ToolCall }[] {
  const open = new Map<string, { toolCallId: string; call: ToolCall }>();
  for (const block of call.messages.flatMap(({ blocks }) => blocks)) {
    if (block.type === "result") open.delete(block.result.callId);
    if (block.type !== "call" || block.call?.runBy !== "client") continue;
    const { toolCallId, call: wanted } = block;
    if (!call.closed.includes(toolCallId)) open.set(wanted.id, { toolCallId, call: wanted });
  }
  return [...open.values()];
}
