import { finishTool } from "../tools/finish-tool.ts";
import { isOpen } from "../tools/tools-state.ts";
import type { Decision } from "../decision.ts";
import type { Invocation, ReceivedMessage } from "./turn-state.ts";

/**
 * Closes what a stream left open: blocks and messages as interrupted, and calls of tools that nobody will answer.
 * Calls of tools that are `kept` stay open, since they wait for us.
 */
export function closeStream(
  decision: Decision,
  invocation: Invocation,
  why: string,
  pendingToolCallIds: ReadonlySet<string> = new Set(),
): void {
  for (const message of invocation.messages) closeMessage(decision, message);
  for (const run of decision.state.tools.runs) {
    if (!isOpen(run) || pendingToolCallIds.has(run.toolCallId)) continue;
    const text =
      run.toolCall?.runBy === "server"
        ? `No result of ${run.name} came. ${why}.`
        : `${run.name} was not run. ${why}.`;
    finishTool(decision, run, { ending: "cancelled", text });
  }
}

function closeMessage(
  decision: Decision,
  { messageId, blocks, isFinished, reason }: ReceivedMessage,
): void {
  for (const block of blocks) {
    if (block.isFinished) continue;
    const { block: number } = block;
    const interruptedBlock = { messageId, block: number, interrupted: true } as const;
    if (block.type === "text")
      decision.emit({ type: "text.finished", ...interruptedBlock, text: block.text });
    if (block.type === "thought")
      decision.emit({ type: "thought.finished", ...interruptedBlock, text: block.text });
  }
  if (!isFinished)
    decision.emit({ type: "message.finished", messageId, reason, interrupted: true });
}
