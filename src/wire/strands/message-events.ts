import { keepUnknown } from "../converse/state.ts";
import { asServerCall } from "./converse-events.ts";
import { tell } from "./heard.ts";
import type { MessageBlock } from "./message-blocks.ts";
import type { Out, StrandsState } from "./state.ts";

/** Tells a whole block as the Converse events it would have come in. */
export function tellBlock(state: StrandsState, block: MessageBlock, emit: Out): void {
  switch (block.kind) {
    case "text":
      if (block.text === "") return;
      tell(state, "contentBlockDelta", { delta: { text: block.text } }, emit);
      break;
    case "reasoning":
      if (Object.keys(block.reasoning).length === 0) return;
      tell(state, "contentBlockDelta", { delta: { reasoningContent: block.reasoning } }, emit);
      break;
    case "call": {
      const { input, ...start } = block.toolUse;
      tell(state, "contentBlockStart", asServerCall(state, { start: { toolUse: start } }), emit);
      // A call without an id was refused: nothing is open.
      if (block.callId === "") return;
      tell(state, "contentBlockDelta", { delta: { toolUse: { input } } }, emit);
      break;
    }
    case "result": {
      const { content, ...start } = block.toolResult;
      tell(state, "contentBlockStart", { start: { toolResult: start } }, emit);
      tell(state, "contentBlockDelta", { delta: { toolResult: content ?? [] } }, emit);
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
  tell(state, "contentBlockStop", {}, emit);
}

/** Tells the message by which an agent answers its own calls. */
export function tellResults(state: StrandsState, blocks: readonly MessageBlock[], emit: Out): void {
  tell(state, "messageStart", { role: "user" }, emit);
  for (const block of blocks) tellBlock(state, block, emit);
  tell(state, "messageStop", { stopReason: "tool_result" }, emit);
}
