import type { ViewDraft } from "../view-draft.ts";
import type { ToolItem } from "../session-view.ts";

/** A tool call whose arguments are still unknown. */
export function createToolItem({
  toolCallId,
  messageId,
  name,
  at,
  seq,
}: Pick<ToolItem, "toolCallId" | "messageId" | "name" | "at" | "seq">): ToolItem {
  return {
    kind: "tool",
    key: toToolKey(toolCallId),
    at,
    seq,
    toolCallId,
    messageId,
    name,
    stage: "streaming",
    inputText: "",
    call: null,
    approvals: [],
    attempt: 0,
    startedAt: null,
    progress: null,
    ending: null,
    result: null,
    durationMs: null,
    diffs: [],
  };
}

export function findTool(draft: ViewDraft, toolCallId: string): ToolItem | undefined {
  return draft.findItem("tool", toToolKey(toolCallId));
}

/** Changes a tool call. Does nothing if the call is unknown. */
export function changeTool(draft: ViewDraft, toolCallId: string, change: Partial<ToolItem>): void {
  const item = findTool(draft, toolCallId);
  if (item !== undefined) draft.replaceItem({ ...item, ...change });
}

function toToolKey(toolCallId: string): string {
  return `tool:${toolCallId}`;
}
