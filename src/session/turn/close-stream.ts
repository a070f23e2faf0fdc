import { finishTool } from "../tools/finish-tool.ts";
import { isOpen } from "../tools/tools-state.ts";
import type { Work } from "../work.ts";
import type { Call, SaidMessage } from "./turn-state.ts";

/**
 * Closes what a stream left open: blocks and messages as interrupted, and calls of tools that nobody will answer.
 * Calls of tools that are `kept` stay open, since they wait for us.
 */
export function closeStream(
  work: Work,
  call: Call,
  why: string,
  kept: ReadonlySet<string> = new Set(),
): void {
  for (const message of call.messages) closeMessage(work, message);
  for (const run of work.state.tools.runs) {
    if (!isOpen(run) || kept.has(run.toolCallId)) continue;
    const text =
      run.call?.runBy === "server"
        ? `No result of ${run.name} came. ${why}.`
        : `${run.name} was not run. ${why}.`;
    finishTool(work, run, { ending: "cancelled", text });
  }
}

function closeMessage(work: Work, { messageId, blocks, isFinished, reason }: SaidMessage): void {
  for (const block of blocks) {
    if (block.isFinished) continue;
    const { block: number } = block;
    const cut = { messageId, block: number, interrupted: true } as const;
    if (block.type === "text") work.emit({ type: "text.finished", ...cut, text: block.text });
    if (block.type === "thought") work.emit({ type: "thought.finished", ...cut, text: block.text });
  }
  if (!isFinished) work.emit({ type: "message.finished", messageId, reason, interrupted: true });
}
