import { keepUnknown } from "../converse/state.ts";
import { markServerToolCall } from "./converse-events.ts";
import { stepConverse } from "./message-tracker.ts";
import type { MessageBlock } from "./message-blocks.ts";
import type { EmitEvent, StrandsState } from "./state.ts";

/** Folds a complete block as the equivalent Converse events. */
export function foldBlock(state: StrandsState, block: MessageBlock, emit: EmitEvent): void {
  switch (block.kind) {
    case "text":
      if (block.text === "") return;
      stepConverse(state, "contentBlockDelta", { delta: { text: block.text } }, emit);
      break;
    case "reasoning":
      if (Object.keys(block.reasoning).length === 0) return;
      stepConverse(
        state,
        "contentBlockDelta",
        { delta: { reasoningContent: block.reasoning } },
        emit,
      );
      break;
    case "call": {
      const { input, ...start } = block.toolUse;
      stepConverse(
        state,
        "contentBlockStart",
        markServerToolCall(state, { start: { toolUse: start } }),
        emit,
      );
      // A tool call without an id was refused, so no block is open.
      if (block.toolCallId === "") return;
      stepConverse(state, "contentBlockDelta", { delta: { toolUse: { input } } }, emit);
      break;
    }
    case "result": {
      const { content, ...start } = block.toolResult;
      stepConverse(state, "contentBlockStart", { start: { toolResult: start } }, emit);
      stepConverse(state, "contentBlockDelta", { delta: { toolResult: content ?? [] } }, emit);
      break;
    }
    case "citation":
      return keepUnknown(
        state.converse,
        { what: "delta", name: "citation", raw: block.citation },
        emit,
      );
    case "unknown":
      return keepUnknown(state.converse, { what: "start", name: block.name, raw: block.raw }, emit);
    default:
      block satisfies never;
  }
  stepConverse(state, "contentBlockStop", {}, emit);
}

/** Folds the message with the agent's own tool results. */
export function foldResults(
  state: StrandsState,
  blocks: readonly MessageBlock[],
  emit: EmitEvent,
): void {
  stepConverse(state, "messageStart", { role: "user" }, emit);
  for (const block of blocks) foldBlock(state, block, emit);
  stepConverse(state, "messageStop", { stopReason: "tool_result" }, emit);
}
